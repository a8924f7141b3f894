#pragma once

#include "data/fields.hpp"

#include <cstdint>
#include <vector>

namespace bench::ap6 {

/// Points of latitude and longitude.
struct Grid {
  std::int64_t height = 550;
  std::int64_t width = 350;

  std::int64_t points() const { return height * width; }
  bool operator==(const Grid&) const = default;
};

/// Five variables of ERA5 on five levels.
inline constexpr std::int64_t channel_count = 25;

/// Parts of a sample in a step.
inline constexpr std::int64_t crop_count = 2;

/// The grid of a crop: 0.8 of each side, rounded down.
Grid crop_of(const Grid& grid);

/// What a data set has: `fields` (25, H, W), normalised, and `index`, the number of the sample.
std::vector<steps::Field> stored_fields(const Grid& grid);

/// What is trained on: `crops` (2, 25, h, w) of the fields, and `index`.
std::vector<steps::Field> cropped_fields(const Grid& grid);

}  // namespace bench::ap6
