#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bench::tabulate {

/// The files in `directory` that a shell pattern names, sorted (JUBE: in the directory's order); a
/// name without a pattern in it names itself. Special characters of `directory` itself are
/// ordinary ones.
std::vector<std::filesystem::path> matching_files(const std::filesystem::path& directory,
                                                  const std::string& pattern);

}  // namespace bench::tabulate
