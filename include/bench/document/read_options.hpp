#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace bench::document {

/// What reading an input file depends on beside the file.
struct ReadOptions {
  std::set<std::string> tags;  ///< Active ones; those of the file's `selection` are added.
  /// Where included files are looked for first, relative to the current directory. Then come the
  /// file's `include-path`, JUBE_INCLUDE_PATH and the directory of the file.
  std::vector<std::filesystem::path> include_path;
  std::filesystem::path library;  ///< Where they are looked for last; may be empty.
};

}  // namespace bench::document
