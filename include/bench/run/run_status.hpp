#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

/// The state of a run when the loop returns.
struct RunStatus {
  std::vector<workspace::StepCounts> counts;
  bool interrupted = false;
  /// What keeps the batch system from being asked, or workpackages from being started; empty:
  /// nothing.
  std::string blocked_reason;
  /// What the batch system said where it refused jobs; empty: nothing.
  std::string refusals;

  long long failed() const;
  /// Workpackages that have not ended: with a scheduler, or left by an interruption.
  long long open() const;
};

/// How many workpackages of each step are in each state, in the order of the benchmark.
std::vector<workspace::StepCounts> counts_by_step(const space::Run& run,
                                                  const workspace::Workspace& workspace);

/// The state of a finished run; nothing for one that is not. A finished run of many
/// workpackages is known for one without reading them all.
std::optional<RunStatus> status_if_finished(const space::Run& run,
                                            const workspace::Workspace& workspace);

/// The counts with those of submitted workpackages as running that a batch system runs.
/// @param running by step
std::vector<workspace::StepCounts> with_running_jobs(
    std::vector<workspace::StepCounts> counts, const std::map<std::string, long long>& running);

}  // namespace bench::run
