#pragma once

#include "data/field_source.hpp"
#include "data/fields.hpp"

#include <cstdint>
#include <memory>
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

}  // namespace bench::deepcam
