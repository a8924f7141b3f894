#pragma once

#include "job_script.hpp"
#include "part.hpp"
#include "scope.hpp"

#include <string>
#include <vector>

#include <bench/engine/run.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/schedule/job.hpp>

namespace bench::engine {

/// What a workpackage executes, as text. Nothing of it is on disk yet.
struct Rendered {
  std::vector<schedule::Snippet> snippets;  ///< Output files with their whole path.
  std::string script;                       ///< Of a batch step; else empty.
  Geometry geometry;                        ///< Of a batch step.
  double timeout_s = 0;                     ///< 0: none.
};

/// Renders the commands, or the job script, of a part.
/// @param uuid identifies the attempt
/// @param inherited what a job script has to change in the environment for the commands
/// @throws Error with the place of a command, template hole or length of time that does not work
Rendered render(const Scope& scope, const Part& part, const std::string& uuid,
                const workspace::EnvironmentChanges& inherited = {});

/// What a part may take, in seconds; 0: no limit.
double timeout_of(const Scope& scope, const Part& part);

/// Renders all that a workpackage executes in its first cycle.
Rendered render(const Run& run, const workspace::Workpackage& workpackage,
                const Variables& variables, const std::string& uuid,
                evaluate::Evaluator& evaluator);

/// One command, whether it is active or not; `name` is what to call it where it fails.
schedule::Snippet render_command(const model::Command& command, const Scope& scope,
                                 std::string name);

/// Directories with programs that commands find by name: bench-energy and the step programs.
const std::vector<std::filesystem::path>& program_directories();

}  // namespace bench::engine
