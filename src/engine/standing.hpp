#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <bench/engine/loop.hpp>

namespace bench::engine {

/// How a run stands that is finished; nothing for one that is not. A finished run of many
/// workpackages is known for one without reading them all.
std::optional<Standing> standing_if_finished(const Run& run, const workspace::Workspace& workspace);

/// The counts with those of submitted workpackages as running that a batch system runs.
/// @param running by step
std::vector<workspace::StepCounts> with_running_jobs(
    std::vector<workspace::StepCounts> counts, const std::map<std::string, long long>& running);

}  // namespace bench::engine
