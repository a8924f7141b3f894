#pragma once

#include "data/field_transforms.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"
#include "harness/loader_options.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bench::ap5 {

/// Points of the fine grid, to which the coarse fields have been interpolated.
struct Grid {
  std::int64_t height = 96;
  std::int64_t width = 120;
};

/// Fields of ERA5, and the surface height of the fine grid behind them.
inline constexpr std::int64_t predictor_count = 15;

/// Temperature 2 m above the surface, and the surface height.
inline constexpr std::int64_t target_count = 2;

/// Samples of an epoch in MAELSTROM's runs.
inline constexpr std::int64_t epoch_samples = 96'296;

/// `predictors` (15, H, W) and `target` (2, H, W), normalised.
std::vector<steps::Field> fields(const Grid& grid);

/// Fills a sample that can be learnt. The predictors are uniform in [0, 1). The temperature is that
/// of the first predictor, lower where the surface is high, and a little noise; the height is the
/// last predictor.
/// @param random the same numbers give the same sample
/// @param sample memory in the order of `fields`
void generate_sample(steps::Random random, const steps::FieldMemory& sample);

/// Variables of the data set.
struct DatasetOptions {
  std::vector<std::string> predictors;  ///< Of the coarse fields, 14.
  std::string temperature = "t_2m_tar";
  std::string height = "hsurf_tar";
};

/// Adds `--predictors`, `--temperature` and `--surface-height`.
void add_dataset_options(CLI::App& app, DatasetOptions& options);

/// The samples of files of netCDF or HDF5, whose variables have the dimensions (time, H, W). Each
/// variable gets mean 0 and standard deviation 1 (`normalised_fields`).
/// @param moments of the training part, or empty, as for `normalised_fields`
/// @throws UsageError, DataError as `open_array_files`; UsageError if there are not 14 predictors
std::unique_ptr<steps::FieldSource> open_dataset(const std::vector<std::string>& files,
                                                 const Grid& grid, const DatasetOptions& options,
                                                 steps::FieldMoments& moments);

/// Synthetic samples, or these, normalised like the first data set that is opened.
steps::SampleFormat sample_format(const Grid& grid, const DatasetOptions& options);

}  // namespace bench::ap5
