#pragma once

#include <set>
#include <string>
#include <vector>

#include <bench/setup/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::engine {

/// Jobs of a batch system to cancel.
struct Cancellation {
  std::vector<std::string> jobs;        ///< Ids, each once.
  std::vector<long long> workpackages;  ///< Theirs, ascending; also those that share a job.
};

/// What of a run a batch system has; changes nothing.
/// @param steps only of these; empty: of all
/// @param workpackages the same; the others in their jobs are concerned as well
/// @throws Error for a workpackage that does not exist or that no batch system has
Cancellation plan_cancellation(const setup::Run& run, const workspace::Workspace& workspace,
                               const std::set<std::string>& steps,
                               const std::set<long long>& workpackages);

/// Has the batch system end the jobs. `run` needs its platform.
/// @throws Error with what it says, if it does not
void cancel(const setup::Run& run, const Cancellation& cancellation);

/// Records that they were cancelled. The caller holds the writer lock.
void store_cancellation(const Cancellation& cancellation, workspace::Workspace& workspace);

}  // namespace bench::engine
