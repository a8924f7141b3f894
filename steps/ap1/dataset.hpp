#pragma once

#include "data/field_source.hpp"
#include "data/moments.hpp"
#include "harness/loader_options.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench::ap1 {

/// The samples of MAELSTROM's files, in netCDF or HDF5, as `fields(patch)` describes them:
///
///     predictors(lead time, y, x, 8), static_predictors(y, x, 6), target_mean(lead time, y, x)
///
/// Each lead time is divided into square patches, of which `write_sample` makes samples. The
/// predictors are normalised by samples that are spread over the data set.
///
/// @param files at least one
/// @param patch side of the patches in grid points
/// @param moments of the predictors in the training part, which are used; if they are empty, they
///        become those of these files
/// @throws steps::UsageError, steps::DataError as `steps::open_array_files`
std::unique_ptr<steps::FieldSource> open_dataset(const std::vector<std::string>& files,
                                                 std::int64_t patch, steps::FieldMoments& moments);

/// These, normalised like the first data set that is opened, and synthetic ones.
steps::SampleFormat sample_format(std::int64_t patch);

}  // namespace bench::ap1
