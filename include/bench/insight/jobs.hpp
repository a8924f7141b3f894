#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <bench/machine/job.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::insight {

/// The jobs of a run that have not ended.
struct JobsUnderWay {
  std::size_t count = 0;  ///< Queued or running. Without an answer, all that were submitted.
  std::string failure;    ///< Why the batch system could not be asked; empty: it has answered.
};

/// Asks the batch system once, about all jobs that the workspace has as submitted; of another
/// user's run nobody is asked.
JobsUnderWay jobs_under_way(const space::Run& run, const workspace::Workspace& workspace);

/// What the batch system says of the job of an attempt, now.
struct JobNews {
  std::string text;      ///< For people: `PENDING (Resources)`, or why nothing is known.
  bool may_end = false;  ///< It is over, or nobody knows the job: `bench continue` finds out.
};

/// Asks the batch system once, and its accounting if it has forgotten the job.
JobNews ask_about(const space::Run& run, const std::string& step,
                  const workspace::Attempt& attempt);
/// The same of a job that a command has submitted itself.
JobNews ask_about_job(const space::Run& run, const std::string& id);

/// Jobs of a batch system to cancel.
struct Cancellation {
  std::vector<std::string> jobs;       ///< Ids, each once.
  std::vector<std::string> own;        ///< Ids of those that commands have submitted themselves.
  std::vector<machine::Job> attempts;  ///< Ascending by workpackage; also those that share a job.
  /// Chained attempts whose jobs wait for those, ascending: without them they never begin.
  std::vector<machine::Job> waiting;
  /// Says of how many workpackages the batch system may have jobs that it does not list: their
  /// submission was not answered, or not recorded. Empty: of none.
  std::string unanswered;
};

/// What of a run a batch system has; changes nothing. What has ended is left to `bench continue`.
/// `run` needs its platform.
/// @param steps only of these; empty: of all
/// @param workpackages the same; the others in their jobs are concerned as well
/// @throws Error for a workpackage that does not exist or that no batch system has
Cancellation plan_cancellation(const space::Run& run, const workspace::Workspace& workspace,
                               const std::set<std::string>& steps,
                               const std::set<long long>& workpackages);

/// Has the batch system end the jobs, and notes so in the directories of their workpackages, for
/// a bench that waits for them. `run` needs its platform.
/// @returns its message if it failed, else an empty text
std::string cancel(const space::Run& run, const Cancellation& cancellation);

/// Records that they were cancelled, but for what has ended well meanwhile; what waited for them is
/// skipped. The caller holds the writer lock.
/// @param reason of those that were cancelled
void store_cancellation(const space::Run& run, const Cancellation& cancellation,
                        const std::string& reason, workspace::Workspace& workspace);

}  // namespace bench::insight
