#pragma once

#include "deepcam/sample.hpp"

#include <array>
#include <string>

namespace bench::deepcam {

/// Smallest and largest value of each channel in the training data.
struct ValueRange {
  std::array<float, channel_count> smallest;
  std::array<float, channel_count> largest;
};

/// Reads `climate/minval` and `climate/maxval` (16) of the data set's file `stats.h5`.
/// @throws UsageError if it cannot be opened, DataError if it has no such variables, or a channel
///         has no range
ValueRange read_value_range(const std::string& file);

}  // namespace bench::deepcam
