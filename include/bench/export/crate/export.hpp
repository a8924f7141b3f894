#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include <bench/setup/run.hpp>
#include <bench/tabulate/tidy.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::crate {

struct Options {
  std::filesystem::path output;   ///< A directory or an archive, by its ending.
  std::uintmax_t most_bytes = 0;  ///< Larger files are left out.
  std::string license;            ///< Of the crate; empty: none is given.
  /// Once it is true, nothing is written any more; null: never.
  const std::atomic<bool>* interrupted = nullptr;
};

/// What became of an export.
struct Exported {
  std::size_t files = 0;
  std::uintmax_t bytes = 0;
  std::size_t left_out = 0;  ///< Files on the list of those.
  std::size_t scrubbed = 0;  ///< Secrets that were replaced.
  bool interrupted = false;  ///< Then there is no export.
};

/// Writes a run as a Workflow Run RO-Crate, so that others can read and repeat it. The same run
/// gives the same bytes.
/// @param tidy of this run alone
/// @throws Error if it cannot be written
Exported export_run(const setup::Run& run, const workspace::Workspace& workspace,
                    const tabulate::TidyTable& tidy, const Options& options);

}  // namespace bench::crate
