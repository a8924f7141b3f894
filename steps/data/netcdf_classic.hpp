#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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

}  // namespace bench::steps
