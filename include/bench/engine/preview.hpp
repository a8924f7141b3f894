#pragma once

#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/job/job_request.hpp>
#include <bench/setup/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::engine {

/// What a workpackage would execute.
struct Preview {
  workspace::Workpackage workpackage;
  std::vector<std::string> commands;  ///< Shell snippets; empty for a batch step.
  std::string script;                 ///< The job script of a batch step.
  job::JobRequest request;            ///< The same.
  /// What the active commands say, of a batch step without its launcher; only if asked for.
  std::vector<std::string> texts = {};
  /// How many of its step run at a time: here, or of a batch system's jobs, 0: any number.
  int at_once = 1;
};

/// Every workpackage that a run would have if all of them succeed, with what it would execute.
/// Makes and starts nothing, but evaluates parameters, shell ones too: the expansion depends on
/// them.
/// @param run keeps what the batch system says of its partitions, if a pack depends on it
/// @param diagnostics told of computed values that do not fit their type
/// @param notices what the user should know, such as dropped combinations
/// @param with_texts whether to fill in `texts`
std::vector<Preview> preview(setup::Run& run, Diagnostics& diagnostics,
                             std::vector<std::string>& notices, bool with_texts = false);

}  // namespace bench::engine
