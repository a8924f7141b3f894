#pragma once

#include "data/fields.hpp"
#include "data/random.hpp"
#include "harness/batches.hpp"
#include "harness/loader_options.hpp"
#include "harness/torch_all.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench::ap3 {

// A column of the atmosphere in ECMWF's model: 137 layers from the top down, between 138 half
// levels, the first of which is the top of the atmosphere and the last the surface.

inline constexpr std::int64_t layer_count = 137;
inline constexpr std::int64_t half_level_count = layer_count + 1;
inline constexpr std::int64_t interface_count = layer_count - 1;  ///< Between two layers.

/// Variables of the column as a whole.
namespace scalar {
inline constexpr std::int64_t skin_temperature = 0;  ///< K.
inline constexpr std::int64_t cos_zenith_angle = 1;  ///< Of the sun.
inline constexpr std::int64_t albedo = 2;            ///< 6 bands for diffuse light, 6 for direct.
inline constexpr std::int64_t albedos = 12;
// 14 and 15: emissivity for long waves.
inline constexpr std::int64_t solar_irradiance = 16;  ///< W m^-2, of a surface that faces the sun.
inline constexpr std::int64_t count = 17;
}  // namespace scalar

/// Variables of a layer. Mixing ratios are by mass for water, ozone and aerosols (kg/kg).
namespace layer {
inline constexpr std::int64_t specific_humidity = 0;
inline constexpr std::int64_t oxygen = 5;
inline constexpr std::int64_t hcfc22 = 8;
inline constexpr std::int64_t ccl4 = 9;
inline constexpr std::int64_t cloud_fraction = 10;
inline constexpr std::int64_t liquid_water = 23;
inline constexpr std::int64_t count = 27;
}  // namespace layer

/// Variables of a half level, in the order in which MAELSTROM's recurrent network reads them.
namespace half_level {
inline constexpr std::int64_t pressure = 0;     ///< Pa.
inline constexpr std::int64_t temperature = 1;  ///< K.
inline constexpr std::int64_t count = 2;
}  // namespace half_level

// Factors that bring the variables to a size of about 1.

/// One over the largest value in MAELSTROM's training data, as its recurrent network has it; 1
/// where it holds nothing but zeros.
inline constexpr std::array<double, layer::count> layer_factors{
    46.2,   5.98e4, 2370,   3.01e6, 4.92e5, 4.77,   1.17e9, 2.01e9, 1,
    1,      1,      4.12e8, 4.82e6, 3.97e6, 1.98e7, 7.21e6, 7.83e6, 1.67e7,
    2.04e7, 2.44e8, 1.37e8, 4.13e7, 2.11e9, 648,    110,    3.33e4, 9930};
/// The same (27), for a network's buffers.
torch::Tensor factors_of_layers();
inline constexpr double temperature_factor = 0.0031765;
inline constexpr double log_pressure_factor = 0.086698161;  ///< Of the logarithm of pascals.
inline constexpr double thickness_factor = 0.0004561;       ///< Of the pressure across a layer.
inline constexpr double pressure_factor = 1 / 1.03e5;
inline constexpr double irradiance_factor = 1 / 1415.0;

/// K per day for a layer that absorbs 1 W m^-2 per pascal of its thickness: g / c_p, with c_p of
/// dry air as in ECMWF's data.
inline constexpr double heating_per_absorption = 9.80665 / 1004 * 86400;

/// Inputs: a batch of columns.
struct Columns {
  torch::Tensor scalars;      // (B, 17)
  torch::Tensor layers;       // (B, 137, 27)
  torch::Tensor half_levels;  // (B, 138, 2)
  torch::Tensor interfaces;   // (B, 136, 1): overlap of the clouds of two layers, from 0 to 1
  torch::Tensor pressure;     // (B, 138, 1), Pa
};

/// Outputs, predicted or true.
struct Radiation {
  torch::Tensor fluxes;        // (B, 138, 2): down and up, W m^-2; see `Cnn` for another shape
  torch::Tensor heating_rate;  // (B, 137, 1), K per day
};

/// The five inputs in the order of `Columns`, then the two targets in that of `Radiation`, under
/// the names of MAELSTROM's data.
std::vector<steps::Field> fields();

/// The parts of a batch with these fields.
Columns columns_of(const steps::Batch& batch);
Radiation target_of(const steps::Batch& batch);

/// Memory of one sample, in the order of `fields`.
struct ColumnMemory {
  std::span<float> scalars;       // (17)
  std::span<float> layers;        // (137, 27)
  std::span<float> half_levels;   // (138, 2)
  std::span<float> interfaces;    // (136, 1)
  std::span<float> pressure;      // (138, 1)
  std::span<float> fluxes;        // (138, 2)
  std::span<float> heating_rate;  // (137, 1)
};

/// Fills a sample that can be learnt: a random column by day, and the fluxes in a grey atmosphere
/// whose vapour and cloud water absorb sunlight and whose surface reflects it.
///
/// Sunlight is weakened along its slant path after Beer and Lambert. What the surface reflects is
/// diffuse, and its path 1.66 times the vertical one: Elsasser, Heat Transfer by Infrared Radiation
/// in the Atmosphere (Harvard 1942).
/// @param random the same numbers give the same sample
void make_synthetic_sample(steps::Random random, const ColumnMemory& sample);

/// The same with memory in the order of `fields`.
void generate_sample(steps::Random random, const steps::FieldMemory& sample);

/// The columns of MAELSTROM's TFRecord files, one in each record, whose features have the names of
/// `fields`. Other features, such as those of long waves, are not read.
/// @throws steps::UsageError, steps::DataError as `steps::open_example_fields`
std::unique_ptr<steps::FieldSource> open_dataset(const std::vector<std::string>& files,
                                                 int threads);

/// These, and synthetic ones.
steps::SampleFormat sample_format();

}  // namespace bench::ap3
