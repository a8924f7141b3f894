#pragma once

#include "data/field_transforms.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"
#include "harness/loader_options.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
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

/// Fills a sample that can be learnt. Predictors are uniform in [0, 1). The target is a smooth
/// function of yesterday's bias, altitude and lead time, and noise that grows with the standard
/// deviation of the analysis.
/// @param random the same numbers give the same sample
/// @param predictors (17, P, P)
/// @param target (1, P, P)
void make_synthetic_sample(steps::Random random, std::span<float> predictors,
                           std::span<float> target);

/// The same with memory in the order of `fields`.
void generate_sample(steps::Random random, const steps::FieldMemory& sample);

/// How many predictors are stored of the forecast at one lead time, and of the place.
inline constexpr std::int64_t dynamic_count = 8;
inline constexpr std::int64_t static_count = 6;

/// Maps a stored number to (number - mean) * factor.
struct Scale {
  double mean = 0;
  double factor = 1;

  float operator()(float number) const {
    return static_cast<float>((static_cast<double>(number) - mean) * factor);
  }
};

/// One for each stored predictor, in the order of a sample.
using Scales = std::array<Scale, dynamic_count + static_count>;

/// The stored fields of a patch of P x P points at one lead time.
struct StoredPatch {
  std::span<const float> dynamic;  ///< (P, P, 8)
  std::span<const float> fixed;    ///< (P, P, 6): the static predictors.
  std::span<const float> target;   ///< (P, P)
  float lead_time;                 ///< Its index in the file.
  std::span<const float> rows;     ///< (P): indices in the grid, as `columns`.
  std::span<const float> columns;  ///< (P)
};

/// The samples of MAELSTROM's files, in netCDF or HDF5, as `fields(patch)` describes them:
///
///     predictors(lead time, y, x, 8), static_predictors(y, x, 6), target_mean(lead time, y, x)
///
/// Each lead time is divided into square patches, of which `write_sample` makes samples. The
/// predictors are normalised by samples that are spread over the data set.
///
/// @param files at least one
/// @param patch side of the patches in grid points
/// @param moments of the predictors in the training part, which are used; if they are empty, they
///        become those of these files
/// @throws steps::UsageError, steps::DataError as `steps::open_array_files`
std::unique_ptr<steps::FieldSource> open_dataset(const std::vector<std::string>& files,
                                                 std::int64_t patch, steps::FieldMoments& moments);

/// These, normalised like the first data set that is opened, and synthetic ones.
steps::SampleFormat sample_format(std::int64_t patch);

}  // namespace bench::ap1
