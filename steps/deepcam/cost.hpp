#pragma once

#include "deepcam/architecture.hpp"
#include "harness/cost.hpp"

#include <cstdint>

namespace bench::deepcam {

/// Of `DeepLab` on images of that size, multiples of `size_divisor`.
steps::Cost cost(std::int64_t height, std::int64_t width,
                 const Architecture& architecture = Architecture());

}  // namespace bench::deepcam
