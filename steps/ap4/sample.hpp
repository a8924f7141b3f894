#pragma once

#include "data/fields.hpp"

#include <cstdint>
#include <vector>

namespace bench::ap4 {

/// Points of latitude and longitude.
struct Grid {
  std::int64_t height = 361;  ///< From pole to pole in steps of half a degree.
  std::int64_t width = 720;
};

/// Variables of the ensemble at 500 hPa, in the order of the channels.
enum class Variable : std::int64_t {
  geopotential,
  temperature,
  humidity,
  vertical_velocity,
  divergence,
  zonal_wind,
  meridional_wind,
};
inline constexpr std::int64_t variable_count = 7;

/// Means of the ten members, then their standard deviations, normalised.
inline constexpr std::int64_t predictor_count = 2 * variable_count;

/// - `predictors` (14, H, W)
/// - `scale` (2, H, W): mean and standard deviation of the members' geopotential, m^2 s^-2
/// - `target` (1, H, W): geopotential of the reanalysis, m^2 s^-2
std::vector<steps::Field> fields(const Grid& grid);

}  // namespace bench::ap4
