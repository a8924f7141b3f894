#pragma once

#include <optional>
#include <string>
#include <vector>

#include <bench/base/process.hpp>

namespace bench::energy {

/// What a result belongs to.
struct Provenance {
  std::string host;
  std::optional<int> rank;  ///< Of the process that was measured, see `global_rank`.
  std::vector<std::string> program;
  std::optional<ExitStatus> status = ExitStatus{};  ///< None where nobody saw how it ended.
  double interval_s = 0;
  /// The start of the program on two clocks, to place the samples among other records.
  double started_unix_s = 0;
  double started_monotonic_s = 0;
};

}  // namespace bench::energy
