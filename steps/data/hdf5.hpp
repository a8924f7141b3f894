#pragma once

#include "data/array_fields.hpp"
#include "data/fields.hpp"

#include <array>
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

/// See `make_field_writer`.
std::unique_ptr<FieldWriter> make_hdf5_writer(const std::string& path,
                                              const std::vector<Field>& fields,
                                              const FieldFile& file);

}  // namespace bench::steps
