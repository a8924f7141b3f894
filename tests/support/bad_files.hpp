#pragma once

#include "support/source_directory.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace bench::support {

inline const std::filesystem::path bad_files = source_directory() / "tests/data/bad";

/// The input files in `tests/data/bad` whose names begin so, without their ending; `.expected`
/// beside each holds what a user sees of it.
inline std::vector<std::string> bad_names(const std::string& begin) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(bad_files))
    if (entry.path().extension() == ".yaml" && entry.path().stem().string().starts_with(begin))
      names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace bench::support
