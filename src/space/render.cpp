#include "launches.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/time.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/job.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/job_script.hpp>
#include <bench/space/render.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {
namespace {

namespace fs = std::filesystem;
using workspace::Workpackage;

int size_of(const model::Step& step) {
  return static_cast<int>(step.commands.size());
}

/// The commands from `begin` to `end` that are active and not empty.
std::vector<machine::Snippet> render_snippets(const RenderContext& context, int begin, int end) {
  std::vector<machine::Snippet> snippets;
  for (int k = begin; k < end; ++k) {
    const model::Command& command = context.step.commands[static_cast<std::size_t>(k)];
    if (!command.text.empty() && context.holds(command.active, command.place))
      snippets.push_back(render_command(
          command, context, fmt::format("command {} of {}", k + 1, size_of(context.step))));
  }
  return snippets;
}

/// Of a job script: with `$jube_starter`, each its own where several programs are measured.
std::vector<machine::Snippet> render_batch_snippets(RenderContext context,
                                                    const JobRequest& request, int launches) {
  context.variables["jube_starter"] = launch_prefix(
      context, request, launches > 0 ? energy_directory(context, launches, 1) : fs::path());
  if (launches <= 1)
    return render_snippets(context, 0, size_of(context.step));
  for (int number = 1; number <= launches; ++number)
    context.variables[launch_variable(number)] =
        launch_prefix(context, request, energy_directory(context, launches, number));
  model::Step numbered = context.step;
  int count = 0;
  for (model::Command& command : numbered.commands)
    if (context.holds(command.active, command.place))
      command.text = with_numbered_launches(command.text, count);
  const RenderContext of_programs{.run = context.run,
                                  .step = numbered,
                                  .workpackage = context.workpackage,
                                  .variables = context.variables,
                                  .evaluator = context.evaluator};
  return render_snippets(of_programs, 0, size_of(numbered));
}

double duration_s(const RenderContext& context, const std::string& text, const Place& place) {
  const std::string substituted = context.substitute(text);
  return substituted.empty() ? 0 : parse_duration_s(substituted, place);
}

}  // namespace

machine::Snippet render_command(const model::Command& command, const RenderContext& context,
                                std::string name) {
  std::string text = context.substitute(command.text);
  // JUBE strips them, since it appends `&& ...` to the text.
  text.erase(0, std::min(text.find_first_not_of(';'), text.size()));
  text.erase(text.find_last_not_of(';') + 1);
  const fs::path base = command.shared ? context.shared() : context.work();
  return {.text = text,
          .stdout_file = base / context.file_name(command.stdout_file),
          .stderr_file = base / context.file_name(command.stderr_file),
          .directory = command.work_dir.empty() ? fs::path() : context.directory_of(command),
          .name = std::move(name)};
}

double timeout_of(const RenderContext& context, const ExecutionSegment& segment) {
  return segment.script ? job_request_of(context).time_limit_s
                        : duration_s(context, context.step.timeout, context.step.place);
}

Rendered render(const RenderContext& context, const ExecutionSegment& segment,
                const std::string& uuid, const workspace::EnvironmentChanges& inherited) {
  Rendered rendered;
  if (!segment.script) {
    rendered.timeout_s = timeout_of(context, segment);
    rendered.snippets = render_snippets(context, segment.begin, segment.end);
    return rendered;
  }
  rendered.request = job_request_of(context);
  const int launches = measured_launches(context);
  rendered.script =
      render_job_script(context, rendered.request, uuid, inherited,
                        render_batch_snippets(context, rendered.request, launches), launches);
  rendered.timeout_s = rendered.request.time_limit_s;
  return rendered;
}

Rendered render(const Run& run, const Workpackage& workpackage, const Variables& variables,
                const std::string& uuid, evaluate::Evaluator& evaluator) {
  const RenderContext context{.run = run,
                              .step = *run.benchmark.step(workpackage.step),
                              .workpackage = workpackage,
                              .variables = variables,
                              .evaluator = evaluator};
  return render(
      context, {.script = context.step.batch.has_value(), .begin = 0, .end = size_of(context.step)},
      uuid);
}

}  // namespace bench::space
