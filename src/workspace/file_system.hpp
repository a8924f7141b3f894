#pragma once

#include <filesystem>

namespace bench::workspace {

/// True where the directory is on a file system of this machine, on which SQLite's write-ahead log
/// is safe. Unknown kinds count as not local.
bool on_local_file_system(const std::filesystem::path& directory);

}  // namespace bench::workspace
