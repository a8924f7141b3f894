#pragma once

#include <cstddef>
#include <string>

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

}  // namespace bench::insight
