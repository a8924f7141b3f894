#pragma once

#include "data/fields.hpp"
#include "data/random.hpp"
#include "harness/loader_options.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench::ap4 {

/// Points of latitude and longitude.
struct Grid {
  std::int64_t height = 361;  ///< From pole to pole in steps of half a degree.
  std::int64_t width = 720;
};

/// Variables of the ensemble at 500 hPa, in the order of the channels.
enum class Variable : std::int64_t {
  geopotential,
  temperature,
  humidity,
  vertical_velocity,
  divergence,
  zonal_wind,
  meridional_wind,
};
inline constexpr std::int64_t variable_count = 7;

/// Means of the ten members, then their standard deviations, normalised.
inline constexpr std::int64_t predictor_count = 2 * variable_count;

/// - `predictors` (14, H, W)
/// - `scale` (2, H, W): mean and standard deviation of the members' geopotential, m^2 s^-2
/// - `target` (1, H, W): geopotential of the reanalysis, m^2 s^-2
std::vector<steps::Field> fields(const Grid& grid);

/// Fills a sample that can be learnt. The predictors are N(0, 1). So is the error of the ensemble's
/// mean in units of its standard deviation, of which the mean temperature explains 81 % of the
/// variance.
/// @param random the same numbers give the same sample
/// @param sample memory in the order of `fields`
void generate_sample(steps::Random random, const steps::FieldMemory& sample);

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
