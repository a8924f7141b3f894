#pragma once

#include "data/array_fields.hpp"
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

enum class FieldFormat { tfrecord, hdf5, netcdf };

/// Begins a file. Features and variables have the names of the fields. A name such as
/// `climate/data` is one of a variable in a group.
/// @throws UsageError if the file cannot be opened, or this build has no library for the format
std::unique_ptr<FieldWriter> make_field_writer(FieldFormat format, const std::string& path,
                                               const std::vector<Field>& fields,
                                               const FieldFile& file);

}  // namespace bench::steps
