#include "analysed_files.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <glob.h>

namespace bench::tabulate {
namespace {

namespace fs = std::filesystem;

/// `text` as a shell pattern that only it matches.
std::string literally(const std::string& text) {
  std::string pattern;
  for (const char c : text)
    if (c == '*' || c == '?' || c == '[')
      pattern.append("[").append(1, c).append("]");
    else
      pattern += c;
  return pattern;
}

}  // namespace

std::vector<fs::path> matching_files(const fs::path& directory, const std::string& pattern) {
  if (pattern.find_first_of("*?[") == std::string::npos)
    return {directory / pattern};
  const bool absolute = pattern.starts_with('/');
  const std::string whole = absolute ? pattern : literally(directory.string()) + "/" + pattern;
  std::vector<fs::path> files;
  glob_t found{};
  // A backslash is an ordinary character, as in Python.
  if (::glob(whole.c_str(), GLOB_NOESCAPE, nullptr, &found) == 0)
    for (std::size_t k = 0; k < found.gl_pathc; ++k)
      files.emplace_back(found.gl_pathv[k]);
  ::globfree(&found);
  return files;
}

}  // namespace bench::tabulate
