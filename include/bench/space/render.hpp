#pragma once

#include <string>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/job.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

/// What a workpackage executes, as text. Nothing of it is on disk yet.
struct Rendered {
  std::vector<machine::Snippet> snippets;  ///< Output files with their whole path.
  std::string script;                      ///< Of a batch step; else empty.
  JobRequest request;                      ///< Of a batch step.
  double timeout_s = 0;                    ///< 0: none.
};

/// Renders the commands, or the job script, of a segment.
/// @param uuid identifies the attempt
/// @param inherited what a job script has to change in the environment for the commands
/// @throws Error with the place of an invalid command, template variable or duration
Rendered render(const RenderContext& context, const ExecutionSegment& segment,
                const std::string& uuid, const workspace::EnvironmentChanges& inherited = {});

/// What a part may take, in seconds; 0: no limit.
double timeout_of(const RenderContext& context, const ExecutionSegment& segment);

/// Renders all that a workpackage executes in its first cycle.
Rendered render(const Run& run, const workspace::Workpackage& workpackage,
                const Variables& variables, const std::string& uuid,
                evaluate::Evaluator& evaluator);

/// One command, whether it is active or not; `name` is what to call it where it fails.
machine::Snippet render_command(const model::Command& command, const RenderContext& context,
                                std::string name);

}  // namespace bench::space
