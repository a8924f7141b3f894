#pragma once

#include <memory>
#include <string>

#include <bench/base/process.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/file_operation.hpp>
#include <bench/machine/job.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

/// What the texts of the next part of a workpackage are rendered with. A shared command
/// has no variables of one workpackage.
std::shared_ptr<const RenderContext> context_of(const Run& run, const Graph& graph,
                                                const workspace::Workpackage& workpackage,
                                                evaluate::Evaluator& evaluator);

struct Prepared {
  machine::Job job;
  JobRequest request;  ///< Of a batch step.
};

/// The next part of a workpackage as an attempt, ready to start. Its first snippet makes the
/// directory, where that is due: a left one of an interrupted attempt is removed, the parents are
/// linked into it, files are placed and substituted.
/// @param inherited the environment that the part begins with, against bench's own
/// @throws Error if something of that fails; the workpackage is then failed, not the run
Prepared prepare(const RenderContext& context, const Graph& graph, const std::string& uuid,
                 const workspace::EnvironmentChanges& inherited);

/// The attempt as it is on disk, for one that an earlier bench started.
machine::Job attempt_on_disk(const Run& run, const workspace::Workpackage& workpackage,
                             const std::string& uuid);

/// Leaves `done` or `error` in the workpackage's directory, for people and their scripts. Never
/// read back.
void write_marker(const Run& run, const workspace::Workpackage& workpackage, bool success,
                  const std::string& reason);

/// Makes the directory of a workpackage, with the links to its parents' and its step's shared
/// directories, and the directory that its step works in, if it has one of its own.
machine::FileOperation make_directory(const RenderContext& context, const Graph& graph);

/// What a job script starts from: the environment of every command; but what the user's BASH_ENV
/// prints, which each bash of the script reads first, stays out of the output of the commands.
Environment script_environment();

}  // namespace bench::space
