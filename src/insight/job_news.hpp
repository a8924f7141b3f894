#pragma once

#include <string>

#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::inspect {

/// What the batch system says of the job of an attempt, now.
struct JobNews {
  std::string text;      ///< For people: `PENDING (Resources)`, or why nothing is known.
  bool may_end = false;  ///< It is over, or nobody knows the job: `bench continue` finds out.
};

/// Asks the batch system once, and its accounting if it has forgotten the job.
JobNews ask_about(const setup::Run& run, const std::string& step,
                  const workspace::Attempt& attempt);
/// The same of a job that a command has submitted itself.
JobNews ask_about_job(const setup::Run& run, const std::string& id);

}  // namespace bench::inspect
