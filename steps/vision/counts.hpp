#pragma once

#include "harness/cost.hpp"
#include "vision/architecture.hpp"

#include <cstdint>
#include <optional>

namespace bench::vision {

/// Cost of a model, computed from its table alone.
struct Counts {
  steps::Cost cost;
  /// Side of the smallest image that is normalised; empty where none is.
  std::optional<std::int64_t> smallest_normalised_size;
};

/// @param image_size side of the square input in pixels, at least `smallest_image_size`
Counts count(const Architecture& architecture, std::int64_t image_size);

}  // namespace bench::vision
