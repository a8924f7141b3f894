#pragma once

#include "data/array_layout.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {

/// Endings of the files that `open_array_files` reads, for `find_data_files`.
std::vector<std::string_view> array_endings();

/// The samples of files of HDF5 (`hdf5_endings`) or netCDF (all others), by the ending of the
/// first.
/// @param expected the fields that the program can use, in the order of the layout
/// @throws as `open_hdf5_fields` and `open_netcdf_fields`
/// @throws DataError naming the variable if a field is not the expected one
std::unique_ptr<FieldSource> open_array_files(const std::vector<std::string>& files,
                                              const ArrayLayout& layout,
                                              const std::vector<Field>& expected);

}  // namespace bench::steps
