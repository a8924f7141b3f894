#pragma once

#include <functional>
#include <string>
#include <vector>

#include <bench/workspace/run_directory.hpp>

namespace bench::cli {

/// Acts on a run.
/// @returns the exit code
using RunAction = std::function<int(const workspace::RunDirectory&)>;

/// Acts on each run. An error in one of several is told with the run it is about and does not stop
/// the others, but an interruption does.
/// @returns the worst exit code; that of an error is 1
int act_on_each(const std::vector<workspace::RunDirectory>& runs, const RunAction& act);

/// @returns why a run cannot be read; empty if it can
std::string why_unsound(const std::function<void()>& read);

/// Reads one of many runs. If that fails, a note says why the run is left out.
void skip_if_unsound(const workspace::RunDirectory& directory, const std::function<void()>& read);

}  // namespace bench::cli
