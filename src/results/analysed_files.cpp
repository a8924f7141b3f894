#include "analysed_files.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <bench/base/files.hpp>

namespace bench::tabulate {

std::vector<std::filesystem::path> matching_files(const std::filesystem::path& directory,
                                                  const std::string& pattern) {
  if (pattern.find_first_of("*?[") == std::string::npos)
    return {directory / pattern};
  return files_matching(directory, pattern);
}

}  // namespace bench::tabulate
