#pragma once

#include "ap5/sample.hpp"
#include "data/field_source.hpp"
#include "data/moments.hpp"
#include "harness/loader_options.hpp"

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bench::ap5 {

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
