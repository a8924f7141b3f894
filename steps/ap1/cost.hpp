#pragma once

#include "harness/cost.hpp"

#include <cstdint>

namespace bench::ap1 {

/// Of `UNet`.
/// @param patch side of the square input in grid points, a multiple of `patch_divisor`
steps::Cost cost(std::int64_t patch);

}  // namespace bench::ap1
