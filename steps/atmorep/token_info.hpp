#pragma once

#include "atmorep/sizes.hpp"

#include <span>

namespace bench::atmorep {

/// Coordinates of the grid points of a sample.
struct Coordinates {
  std::span<const float> hours;       ///< Since 1 January 1900, of T times.
  std::span<const float> levels;      ///< Numbers of L levels of ERA5's model.
  std::span<const float> latitudes;   ///< Degrees, of H rows.
  std::span<const float> longitudes;  ///< Degrees, of W columns.
};

/// Writes for each token, in the order of `tokens_of`: year / 2100, day of the year / 365, hour /
/// 24, level / 1000, latitude / 90, longitude / 360, level / 1000, distance of two columns in
/// degrees. They are those of the token's last time and of its middle.
///
/// Source: the code of AtmoRep (github.com/clessig/atmorep), which has the level twice.
/// @param info (N, 8)
void fill_token_info(const Coordinates& at, const Sizes& sizes, std::span<float> info);

}  // namespace bench::atmorep
