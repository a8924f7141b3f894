#pragma once

#include <string_view>
#include <vector>

#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {

/// The state of a run. `running`: a bench works on it, its jobs are with a batch system, or a
/// workpackage waits for its `done_file`. `stopped`: work is left, but no bench works on it.
/// `finished` or `failed`: every workpackage has ended, none or some of them as failed.
enum class RunState { running, stopped, finished, failed };

/// `running`, ...: the words in every message.
std::string_view name_of(RunState state);

/// @param steps the workpackages of all its steps
RunState run_state(const workspace::RunDirectory& run,
                   const std::vector<workspace::StepCounts>& steps);

}  // namespace bench::insight
