#pragma once

#include "data/fields.hpp"
#include "data/generated_samples.hpp"
#include "data/random.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench::deepcam {

/// Fields of the climate model CAM5, in the order of the data set: TMQ, U850, V850, UBOT, VBOT,
/// QREFHT, PS, PSL, T200, T500, PRECT, TS, TREFHT, Z1000, Z200, ZBOT.
inline constexpr std::int64_t channel_count = 16;
namespace channel {
inline constexpr std::int64_t water_vapour = 0;        ///< TMQ: of the whole column.
inline constexpr std::int64_t sea_level_pressure = 7;  ///< PSL.
}  // namespace channel

/// Classes of a grid point.
namespace label {
inline constexpr std::int64_t background = 0;
inline constexpr std::int64_t tropical_cyclone = 1;
inline constexpr std::int64_t atmospheric_river = 2;
inline constexpr std::int64_t count = 3;
}  // namespace label

/// Training samples of MLPerf HPC's data set.
inline constexpr std::int64_t train_samples = 121'266;

/// `data` (H, W, 16) and `labels`, int64 (H, W).
std::vector<steps::Field> fields(std::int64_t height, std::int64_t width);

/// The samples of MLPerf HPC's files, HDF5 with one sample each: `climate/data`, float32
/// (H, W, 16), and `climate/labels_0`, integers (H, W).
/// @throws as `steps::open_hdf5_fields`; a label that is no class is a DataError in its file
std::unique_ptr<steps::FieldSource> open_samples(const std::vector<std::string>& files);

/// Fills a sample that can be learnt: a tropical cyclone, which is a disc of low pressure, and an
/// atmospheric river, which is a band of much water vapour. They cover about as much as in the
/// published data. All other values are uniform in [0, 1).
/// @param random the same numbers give the same sample
/// @param width W, of images whose height follows from the size of the spans
/// @param data (H, W, 16)
/// @param labels (H, W)
void make_synthetic_sample(steps::Random random, std::int64_t width, std::span<float> data,
                           std::span<std::int64_t> labels);

/// Makes such samples in memory in the order of `fields`.
steps::GenerateSample generator(std::int64_t width);

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
