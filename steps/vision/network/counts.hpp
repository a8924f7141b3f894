#pragma once

#include "harness/cost.hpp"
#include "vision/network/layers.hpp"

#include <cstdint>
#include <optional>

namespace bench::vision {

/// Cost of a network, computed from its table alone.
struct Counts {
  steps::Cost cost;
  /// Pixels of the smallest image that is normalised; empty where none is.
  std::optional<std::int64_t> fewest_normalised_pixels;
};

/// @param input of which every layer leaves something
Counts count(const Path& layers, const Shape& input);

}  // namespace bench::vision
