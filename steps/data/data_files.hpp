#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {

/// The files of a data set, sorted by the bytes of their names.
/// @param path one file, a folder, or a pattern as in a shell: `data/202???01T*.nc`
/// @param endings of the files to take from a folder: `.h5`, `.hdf5`. Other files in it are
/// ignored,
///        and so are hidden ones.
/// @throws UsageError if it cannot be read, or there is no such file
std::vector<std::string> find_data_files(const std::string& path,
                                         std::span<const std::string_view> endings);

}  // namespace bench::steps
