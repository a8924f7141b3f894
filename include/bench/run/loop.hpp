#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <bench/run/observer.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

/// The state of a run when the loop returns.
struct RunStatus {
  std::vector<workspace::StepCounts> counts;
  bool interrupted = false;
  /// Why the batch system cannot be asked, or workpackages cannot start; otherwise empty.
  std::string blocked_reason;
  /// The batch system's messages where it refused jobs; otherwise empty.
  std::string refusals;

  long long failed() const;
  /// Workpackages that have not ended: with a scheduler, or left by an interruption.
  long long open() const;
};

/// The number of workpackages in each state, for each step in the order of the benchmark.
std::vector<workspace::StepCounts> counts_by_step(const space::Run& run,
                                                  const workspace::Workspace& workspace);

/// The state of a run if it has finished. This does not read all workpackages.
std::optional<RunStatus> status_if_finished(const space::Run& run,
                                            const workspace::Workspace& workspace);

/// The counts, with each submitted workpackage whose job is running counted as running.
/// @param running by step
std::vector<workspace::StepCounts> with_running_jobs(
    std::vector<workspace::StepCounts> counts, const std::map<std::string, long long>& running);

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
