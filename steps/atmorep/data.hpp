#pragma once

#include "data/fields.hpp"
#include "data/random.hpp"
#include "harness/loader_options.hpp"
#include "harness/torch_all.hpp"

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

/// The fields of `--fields`: the first ones of all, or those named.
/// @throws steps::UsageError if a field is unknown or named twice
std::vector<std::string> parse_fields(const std::string& text);

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

/// How tokens are masked, by default as in AtmoRep's configuration.
struct Masking {
  /// Largest share of the tokens of a level, for all fields or for each of them.
  std::vector<double> rates{0.5};
  // What happens to masked tokens; each is drawn by itself, so that some keep what they are.
  double hidden = 0.9;   ///< Become 0.
  double noisy = 0.2;    ///< Are weakened, and get noise.
  double coarse = 0.05;  ///< Get half the resolution.

  double rate(std::size_t field) const { return rates[rates.size() == 1 ? 0 : field]; }
  /// Mean number of masked tokens in a level of a field.
  double mean_count(std::size_t field, std::int64_t level_tokens) const;
};

/// Consecutive samples of a training, counted over all ranks and steps.
struct SampleRange {
  std::uint64_t seed = 1;  ///< Of the training.
  std::int64_t first = 0;
  std::int64_t count = 1;
};

/// The masked tokens of a field in a batch. A token's row is its number in its sample, plus the
/// tokens of the samples before.
struct FieldMask {
  struct Noise {
    std::uint64_t seed = 0;
    std::int64_t rows = 0;  ///< The next ones of `noisy`, all of one sample.
  };

  std::vector<std::int64_t> rows;
  std::vector<float> weights;  ///< Of each row in the loss. All samples weigh the same; together 1.
  std::vector<std::int64_t> hidden;
  std::vector<std::int64_t> noisy;
  std::vector<float> kept;  ///< Of each noisy row: what its numbers are multiplied by.
  std::vector<Noise> noise;
  std::vector<std::int64_t> coarse;
};

/// Draws which tokens are masked, for each field. The mask of a sample depends on the seed, its
/// number and the field alone, and so not on ranks, batches and devices.
///
/// On each level, the share of masked tokens is uniform between 0 and the rate, at least one token.
std::vector<FieldMask> draw_masks(const Masking& masking, const Sizes& sizes,
                                  const SampleRange& samples);

/// A batch as the network sees it, and what it has to find; all on the device of the tokens.
struct MaskedBatch {
  torch::Tensor tokens;                ///< (F, B, N, points), with masked ones.
  std::vector<torch::Tensor> rows;     ///< Of each field: the rows of its M masked tokens, (M).
  std::vector<torch::Tensor> targets;  ///< Of each field: what these were, (M, points).
  std::vector<torch::Tensor> weights;  ///< Of each field, (M).
};

/// @param tokens (F, B, N, points), normalised to mean 0 and deviation 1
MaskedBatch mask(const torch::Tensor& tokens, const std::vector<FieldMask>& masks,
                 const Cube& token);

/// @throws steps::UsageError if the heads do not divide the width, it has no room for tokens, or
///         there are not as many masking rates as fields
void check_options(const Sizes& sizes, const Masking& masking);

}  // namespace bench::atmorep
