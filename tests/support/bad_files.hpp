#pragma once

#include "support/source_directory.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace bench::support {

inline const std::filesystem::path bad_files = source_directory() / "tests/data/bad";

/// The names of the input files in `tests/data/bad` with this prefix.
inline std::vector<std::string> bad_names(const std::string& begin) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(bad_files))
    if (entry.is_regular_file() && entry.path().filename().string().starts_with(begin))
      names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

/// The faults of a file that `faults.txt` lists, a line each, in the order of their messages. A
/// line for a fault in an included file begins with the name of the file that includes it.
inline std::vector<std::string> faults_of_bad(const std::string& name) {
  std::vector<std::string> faults;
  std::ifstream file(bad_files / "faults.txt");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ":"))
      faults.push_back(line);
    else if (line.starts_with(name + " "))
      faults.push_back(line.substr(name.size() + 1));
  return faults;
}

}  // namespace bench::support
