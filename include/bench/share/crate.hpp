#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <bench/results/tidy.hpp>
#include <bench/space/input.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::crate {

struct Options {
  std::filesystem::path output;   ///< A directory or an archive, by its extension.
  std::uintmax_t most_bytes = 0;  ///< Larger files are left out.
  std::string license;            ///< Of the crate; empty: none is given.
  /// Stops the export when it becomes true; may be null.
  const std::atomic<bool>* interrupted = nullptr;
};

/// Summary of an export.
struct Exported {
  std::size_t files = 0;
  std::uintmax_t bytes = 0;
  std::size_t left_out = 0;                  ///< Files listed as left out.
  std::size_t scrubbed = 0;                  ///< Secrets that were replaced.
  std::vector<std::string> unsearched = {};  ///< Compressed files that could not be searched.
  bool interrupted = false;                  ///< If true, nothing was exported.
};

/// Writes a run as a Workflow Run RO-Crate, which others can read and repeat. Deterministic.
/// @param tidy of this run alone
/// @throws Error if it cannot be written
Exported export_run(const space::Run& run, const workspace::Workspace& workspace,
                    const results::TidyTable& tidy, const Options& options);

/// Whether `bench export` wrote the directory.
bool is_export(const std::filesystem::path& directory);

/// The request that repeats an exported run: its input, and its recorded options unless `request`
/// overrides them. The account is always the user's own. Runs are created in the current directory.
/// @throws Error if the database of the export cannot be read
space::Request rerun_request(const std::filesystem::path& directory, space::Request request);

}  // namespace bench::crate
