#pragma once

#include "ap4/sample.hpp"
#include "data/field_source.hpp"
#include "harness/loader_options.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bench::ap4 {

/// The samples of ENS-10 at 500 hPa. The scripts of ENS-10 (github.com/spcl/ens10) write the files:
///
///     ENS10_pl_mean_normalized.nc, ENS10_pl_std_normalized.nc   Z, T, Q, W, D, U, V
///     ENS10_pl_mean.nc, ENS10_pl_std.nc                         Z
///     ERA5_z500.nc                                              Z
///
/// Variables have the dimensions (time, 1 level, H, W) or (time, H, W).
/// @param files among which these are
/// @throws UsageError, DataError as `open_netcdf_fields`; UsageError if one of the files is
/// missing,
///         DataError if the fields are not of this grid or the files have different numbers of
///         times
std::unique_ptr<steps::FieldSource> open_ens10(const std::vector<std::string>& files,
                                               const Grid& grid);

/// Synthetic samples, or these.
steps::SampleFormat sample_format(const Grid& grid);

}  // namespace bench::ap4
