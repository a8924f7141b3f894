#pragma once

#include <memory>
#include <string>

#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/job.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::job {

/// What the texts of the next part of a workpackage are rendered with. A shared command
/// has no variables of one workpackage.
std::shared_ptr<const RenderContext> context_of(const setup::Run& run, const workflow::Graph& graph,
                                                const workspace::Workpackage& workpackage,
                                                evaluate::Evaluator& evaluator);

struct Prepared {
  execute::Job job;
  JobRequest request;  ///< Of a batch step.
};

/// The next part of a workpackage as an attempt, ready to start. Its first snippet makes the
/// directory, where that is due: a left one of an interrupted attempt is removed, the parents are
/// linked into it, files are placed and substituted.
/// @param inherited the environment that the part begins with, against bench's own
/// @throws Error if something of that fails; the workpackage is then failed, not the run
Prepared prepare(const RenderContext& context, const workflow::Graph& graph,
                 const std::string& uuid, const workspace::EnvironmentChanges& inherited);

/// The attempt as it is on disk, for one that an earlier bench started.
execute::Job attempt_on_disk(const setup::Run& run, const workspace::Workpackage& workpackage,
                             const std::string& uuid);

/// Leaves `done` or `error` in the workpackage's directory, for people and their scripts. Never
/// read back.
void write_marker(const setup::Run& run, const workspace::Workpackage& workpackage, bool success,
                  const std::string& reason);

}  // namespace bench::job
