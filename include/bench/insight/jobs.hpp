#pragma once

#include <cstddef>
#include <string>

#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::inspect {

/// The jobs of a run that have not ended.
struct JobsUnderWay {
  std::size_t count = 0;  ///< Queued or running. Without an answer, all that were submitted.
  std::string failure;    ///< Why the batch system could not be asked; empty: it has answered.
};

/// Asks the batch system once, about all jobs that the workspace has as submitted; of another
/// user's run nobody is asked.
JobsUnderWay jobs_under_way(const setup::Run& run, const workspace::Workspace& workspace);

}  // namespace bench::inspect
