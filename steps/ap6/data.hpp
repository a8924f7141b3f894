#pragma once

#include "data/fields.hpp"
#include "data/random.hpp"
#include "data/sample_loader.hpp"
#include "harness/loader_options.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
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

/// Fills smooth random fields. Every 16th point in both directions is N(0, 1), and between four of
/// them the fields are bilinear. White noise would have no clusters: all samples would be as far
/// apart.
///
/// A sample is in one of eight regimes, each equally likely. Half of the variance is the fields of
/// the regime, which are always the same, the other half those of the sample.
/// @param random the same numbers give the same fields
/// @param fields (25, H, W)
void generate_fields(steps::Random random, const Grid& grid, std::span<float> fields);

/// A data set whose samples also have their number, as their last field `index`.
std::unique_ptr<steps::FieldSource> numbered(
    const std::shared_ptr<const steps::FieldSource>& stored);

/// Makes `cropped_fields` of samples with the `stored_fields`. The places of the crops are random.
/// They depend on the seed and on the number of the sample in the training, so a sample has others
/// in each epoch.
steps::SampleMakers random_crops(steps::SampleMakers makers, const Grid& grid, std::uint64_t seed);

/// Variables of the data set, each on as many levels: 25 channels in all.
struct DatasetOptions {
  std::vector<std::string> variables{"q", "t", "u", "v", "z"};
};

/// @throws UsageError if 25 channels cannot be divided among so many variables
void check_dataset_options(const DatasetOptions& options);

/// The samples of files of netCDF or HDF5, with the `stored_fields`. Variables have the dimensions
/// (time, level, H, W), or (time, H, W) if there are 25 of them. Each level of each variable gets
/// mean 0 and standard deviation 1, as some samples have them that are spread over the data set.
/// @throws UsageError, DataError as `steps::open_array_files`
std::unique_ptr<steps::FieldSource> open_era5(const std::vector<std::string>& files,
                                              const Grid& grid, const DatasetOptions& options);

/// Synthetic samples, or these, with the `cropped_fields`.
/// @param synthetic_samples of the synthetic data set
steps::SampleFormat sample_format(const Grid& grid, const DatasetOptions& options,
                                  std::int64_t synthetic_samples);

}  // namespace bench::ap6
