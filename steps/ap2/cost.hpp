#pragma once

#include "ap2/sizes.hpp"
#include "harness/cost.hpp"

#include <cstdint>

namespace bench::ap2 {

/// Of `Deberta`, padding included. The table of relative positions is projected once for each batch
/// and layer, which its samples share.
/// @param batch_size samples of a batch; its share of the table's rows is rounded up
steps::Cost cost(const Sizes& sizes, std::int64_t batch_size);

}  // namespace bench::ap2
