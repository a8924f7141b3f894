#pragma once

#include "ap4/sample.hpp"
#include "harness/cost.hpp"

namespace bench::ap4 {

/// Of `UNet`.
/// @param grid as in `check_grid`
steps::Cost cost(const Grid& grid);

}  // namespace bench::ap4
