#pragma once

#include "data/fields.hpp"
#include "data/random.hpp"
#include "harness/loader_options.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bench::atmorep {

/// Extents along time, latitude and longitude.
struct Cube {
  std::int64_t times = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  std::int64_t volume() const { return times * rows * columns; }
};

/// Fields of the atmosphere that the network knows, by their names in ERA5: temperature, zonal and
/// meridional wind, specific humidity, vertical velocity.
inline const std::vector<std::string> known_fields{"t", "u", "v", "q", "w"};

/// Numbers that tell where and when a token is, and the width that they get.
inline constexpr std::int64_t token_info_count = 8;
inline constexpr std::int64_t token_info_width = 16;
/// Width of the layer in the middle of an MLP, in widths of the network.
inline constexpr std::int64_t mlp_factor = 2;

/// Sizes of the network and of a sample, by default those of AtmoRep with three coupled fields.
struct Sizes {
  std::vector<std::string> fields{"t", "u", "v"};
  std::int64_t levels = 5;
  Cube tokens{.times = 12, .rows = 3, .columns = 6};  ///< Of each level.
  Cube token{.times = 3, .rows = 18, .columns = 18};  ///< Grid points.
  std::int64_t width = 1024;
  std::int64_t heads = 16;
  std::int64_t layers = 6;     ///< Of the encoder, and as many of the decoder.
  std::int64_t ensemble = 16;  ///< Predictions of each token.

  std::int64_t field_count() const { return static_cast<std::int64_t>(fields.size()); }
  std::int64_t head_size() const { return width / heads; }
  /// Tokens of a field on all levels.
  std::int64_t field_tokens() const { return levels * tokens.volume(); }
  /// Grid points of a field on one level.
  Cube window() const {
    return {.times = tokens.times * token.times,
            .rows = tokens.rows * token.rows,
            .columns = tokens.columns * token.columns};
  }
};

/// - `fields` (F, L, T, H, W): a window in time and space, normalised
/// - `token_info` (N, 8): where and when the tokens are, see `fill_token_info`
std::vector<steps::Field> fields(const Sizes& sizes);

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

/// Fills a sample that can be learnt: all fields are the same four waves through the window, each
/// field another part of a period apart. So tokens follow from their neighbours and from the other
/// fields. Mean and deviation over all samples are 0 and 1. Place and time are random ones of ERA5
/// on its grid of a quarter of a degree.
/// @param random the same numbers give the same sample
/// @param sample memory in the order of `fields`
void generate_sample(steps::Random random, const steps::FieldMemory& sample, const Sizes& sizes);

struct DatasetOptions {
  /// Variables of the coordinates, as `Coordinates` has them.
  std::vector<std::string> coordinates{"time", "level", "latitude", "longitude"};
};

/// Adds `--coordinates`.
void add_dataset_options(CLI::App& app, DatasetOptions& options);

/// The samples of files of netCDF or HDF5 with ERA5's fields on model levels. A file has as many
/// times as a sample, and any number of rows and columns, which are divided into windows:
///
///     t, u, v, ...(time, level, latitude, longitude)
///     time(time) in hours since 1900, level(level), latitude(latitude), longitude(longitude)
///
/// Each field gets mean 0 and deviation 1 on each level, as some samples have them that are spread
/// over the data set.
/// @throws UsageError, DataError as `open_array_files`
std::unique_ptr<steps::FieldSource> open_dataset(const std::vector<std::string>& files,
                                                 const Sizes& sizes, const DatasetOptions& options);

/// Synthetic samples, or these.
steps::SampleFormat sample_format(const Sizes& sizes, const DatasetOptions& options);

}  // namespace bench::atmorep
