#pragma once

#include "harness/communicator.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace bench::steps {

/// How long the slowest rank waited for its node's copy of a data set, and what all of them copied.
struct Staging {
  double seconds = 0;
  std::int64_t bytes = 0;

  /// Prints `staged_folder`, `staging_s` and `staged_bytes`.
  /// @param folder of this rank's copy
  void log(const std::string& folder) const;
};

/// Copies a data set on all ranks, each for its node, and waits for the slowest: what MLPerf HPC
/// calls staging, with its lines of `--mllog`.
/// @param copy returns the bytes that this rank copied
Staging stage_together(Communicator& ranks, const torch::Device& device,
                       const std::function<std::uint64_t()>& copy);

}  // namespace bench::steps
