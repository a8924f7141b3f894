#pragma once

#include "ap6/network.hpp"
#include "ap6/sample.hpp"
#include "harness/cost.hpp"

namespace bench::ap6 {

/// Of a training step on both crops of a sample. The clustering is not in it.
steps::Cost cost(const Grid& grid, const Heads& heads);

}  // namespace bench::ap6
