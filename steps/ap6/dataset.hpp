#pragma once

#include "ap6/sample.hpp"
#include "data/field_source.hpp"
#include "harness/loader_options.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench::ap6 {

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
