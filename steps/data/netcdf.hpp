#pragma once

#include "data/array_fields.hpp"
#include "data/fields.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {

/// The length that a file of netCDF's classic formats (`CDF\1`, `CDF\2`, `CDF\5`) must have for all
/// of its variables, from its header; 0 for a file of another format. netCDF itself reads zeros
/// behind the end of a file that is cut.
///
/// Source: NetCDF Classic Format Specification, docs.unidata.ucar.edu/nug.
///
/// @param path for messages
/// @throws DataError if the header is damaged
std::uint64_t classic_netcdf_length(std::string_view file, const std::string& path);

/// Endings of netCDF files, for `find_data_files`.
inline constexpr std::array<std::string_view, 4> netcdf_endings = {".nc", ".nc4", ".cdf",
                                                                   ".netcdf"};

/// The samples of netCDF files: classic, 64-bit, and netCDF-4.
///
/// `scale_factor` and `add_offset` are applied. Missing are numbers that equal `_FillValue`,
/// without one netCDF's own fill value, or one of `missing_value`.
///
/// netCDF may be called by one thread at a time (`Hdf5Lock`).
///
/// @throws as `open_array_fields`, and UsageError if this build has no netCDF
std::unique_ptr<FieldSource> open_netcdf_fields(std::vector<std::string> files, ArrayLayout layout);

/// See `make_field_writer`.
std::unique_ptr<FieldWriter> make_netcdf_writer(const std::string& path,
                                                const std::vector<Field>& fields,
                                                const FieldFile& file);

}  // namespace bench::steps
