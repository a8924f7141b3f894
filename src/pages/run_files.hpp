#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/unique_fd.hpp>

namespace bench::pages {

/// Opens a file of a run by its path below the run directory. Invalid if it is not a regular file,
/// if the path is not normalised, or if a link leads out of the run directory.
UniqueFd open_in_run(const std::filesystem::path& run_directory, const std::string& path);

std::uint64_t bytes_of(const UniqueFd& file);

/// The end of a file that may be huge, growing or not text.
struct Tail {
  std::string text;         ///< Arbitrary bytes; starts at the beginning of a line.
  std::uint64_t bytes = 0;  ///< Of the whole file.
  bool is_whole = false;
};

/// @param most_bytes of the end that are read
Tail tail_of(const UniqueFd& file, std::size_t most_bytes);

struct FileEntry {
  std::string path;  ///< Below the run directory.
  std::uint64_t bytes = 0;
};

struct FileList {
  std::vector<FileEntry> files;  ///< Regular ones, by path.
  bool is_cut_short = false;
};

/// Lists the files below a directory of a run without following links.
FileList files_in_run(const std::filesystem::path& run_directory, const std::string& directory);

/// `17 bytes`, `4.2 kB`
std::string size_text(std::uint64_t bytes);

}  // namespace bench::pages
