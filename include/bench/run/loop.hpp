#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include <bench/run/observer.hpp>
#include <bench/run/run_status.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

struct LoopOptions {
  bool stop_at_error = false;  ///< `-e`: nothing further starts after the first failure.
  bool wait = false;           ///< Until the jobs of the batch system have ended, too.
  /// By step: only the combinations at one of these points run, and the others are skipped. Steps
  /// that are not named run whole.
  std::map<std::string, std::vector<workspace::Parameters>> only = {};
  /// Set by a signal handler; the loop then ends what runs here and returns.
  const std::atomic<bool>* interrupted = nullptr;
};

/// Works on a run until nothing is left to do here: records what has ended since (also under an
/// earlier bench that was killed), makes workpackages whose parents are done, and starts what is
/// ready. Jobs of a batch system may then still be under way.
///
/// The caller holds the writer lock of the run.
/// @param run keeps what the batch system says of its partitions before the first submission
/// @throws Error if the run cannot go on, its database cannot be written, say; what runs here then
///         keeps running, and the next call collects it
RunStatus work(space::Run& run, workspace::Workspace& workspace, const LoopOptions& options,
               Observer& observer);

}  // namespace bench::run
