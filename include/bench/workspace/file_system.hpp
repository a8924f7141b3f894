#pragma once

#include <filesystem>

namespace bench::workspace {

/// True where the directory is on a file system of this machine, on which SQLite's write-ahead log
/// is safe. Unknown kinds count as not local.
bool on_local_file_system(const std::filesystem::path& directory);

/// Whether files of a run can be locked. Network file systems may be mounted without (Lustre
/// without
/// `-o flock`, NFS without its lock service).
bool has_locks(const std::filesystem::path& run_directory);

/// SQLite takes shorter paths than the system does.
/// @param file a database that is to be made or opened
/// @throws Error if its path is too long
void check_path_length(const std::filesystem::path& file);

}  // namespace bench::workspace
