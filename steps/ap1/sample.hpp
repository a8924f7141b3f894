#pragma once

#include "data/fields.hpp"

#include <cstdint>
#include <vector>

namespace bench::ap1 {

/// Channels of the input, in the order of MAELSTROM's AP1: eight of the forecast, six of the place,
/// and three that are computed.
enum class Predictor : std::int64_t {
  air_temperature_0_1,  ///< Lower decile of the ensemble.
  air_temperature_0_9,  ///< Upper decile of the ensemble.
  air_temperature_2m,
  bias_yesterday,
  cloud_area_fraction,
  precipitation_amount,
  x_wind_10m,
  y_wind_10m,
  altitude,
  analysis_std,
  bias_recent,
  land_area_fraction,
  model_altitude,
  model_laf,
  x,
  y,
  leadtime,
};
inline constexpr std::int64_t predictor_count = 17;

/// Of the correction to the raw forecast: 10, 50 and 90 %.
inline constexpr std::int64_t quantile_count = 3;

/// `predictors` (17, P, P), normalised, and `target` (1, P, P), the correction in kelvin.
/// @param patch P, the side of the square patch in grid points
std::vector<steps::Field> fields(std::int64_t patch);

}  // namespace bench::ap1
