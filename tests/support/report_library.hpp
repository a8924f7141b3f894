#pragma once

#include <filesystem>

namespace bench::support {

/// Whether npm has fetched into a build directory what draws the figures of reports. Tests of them
/// are skipped where it has not: there was no npm or no network.
inline bool has_report_library(const std::filesystem::path& build_directory) {
  return std::filesystem::exists(build_directory / "share/bench/report/vega.js");
}

}  // namespace bench::support
