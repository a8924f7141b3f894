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

/// Endings of HDF5 files, for `find_data_files`.
inline constexpr std::array<std::string_view, 3> hdf5_endings = {".h5", ".hdf5", ".hdf"};

/// The samples of HDF5 files. Numbers of 1 to 8 bytes, integers, truth values of h5py, and IEEE
/// single and double precision.
///
/// HDF5 may be called by one thread at a time (`Hdf5Lock`). Outside of HDF5, and so on all threads
/// at once, are read: numbers that are stored in this machine's format, uncompressed and in one
/// piece, if the sample is a piece, too.
///
/// @throws as `open_array_fields`, and UsageError if this build has no HDF5
std::unique_ptr<FieldSource> open_hdf5_fields(std::vector<std::string> files, ArrayLayout layout);

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

/// The same for each of the two, by their libraries.
std::unique_ptr<FieldWriter> make_hdf5_writer(const std::string& path,
                                              const std::vector<Field>& fields,
                                              const FieldFile& file);
std::unique_ptr<FieldWriter> make_netcdf_writer(const std::string& path,
                                                const std::vector<Field>& fields,
                                                const FieldFile& file);

}  // namespace bench::steps
