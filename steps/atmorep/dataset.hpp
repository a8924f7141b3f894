#pragma once

#include "atmorep/sizes.hpp"
#include "data/field_source.hpp"
#include "harness/loader_options.hpp"

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bench::atmorep {

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
