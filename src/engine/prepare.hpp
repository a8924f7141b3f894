#pragma once

#include "graph.hpp"
#include "render.hpp"

#include <bench/engine/run.hpp>
#include <bench/schedule/backend.hpp>

namespace bench::engine {

/// Makes the directory of a workpackage (a left one of an interrupted attempt is removed first),
/// links its parents into it, writes its job script, and returns the attempt, ready to start.
/// @throws Error if something of that fails; the workpackage is then failed, not the run
schedule::Job prepare(const Run& run, const Graph& graph, const workspace::Workpackage& workpackage,
                      const std::string& uuid, evaluate::Evaluator& evaluator);

/// The attempt as it stands on disk already, for one that an earlier bench started.
schedule::Job attempt_on_disk(const Run& run, const workspace::Workpackage& workpackage,
                              const std::string& uuid);

/// Leaves `done` or `error` in the workpackage's directory, for people and their scripts. Never
/// read back.
void write_marker(const Run& run, const workspace::Workpackage& workpackage, bool success,
                  const std::string& reason);

}  // namespace bench::engine
