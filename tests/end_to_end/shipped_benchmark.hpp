#pragma once

#include <filesystem>
#include <string>

namespace bench::end_to_end {

/// The file of a benchmark that is shipped.
inline std::string benchmark(const std::string& name) {
  return (std::filesystem::path(BENCHMARKS_DIRECTORY) / (name + ".yaml")).string();
}

}  // namespace bench::end_to_end
