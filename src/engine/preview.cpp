#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/engine/preview.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/execute/job.hpp>
#include <bench/job/job_request.hpp>
#include <bench/job/render.hpp>
#include <bench/job/render_context.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/platform/batch_system.hpp>
#include <bench/setup/partition.hpp>
#include <bench/setup/run.hpp>
#include <bench/store/concurrency.hpp>
#include <bench/workflow/graph.hpp>
#include <bench/workflow/variables.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::engine {
namespace {

/// The threads of a pack's workpackages are whole cores, which the batch system may have to tell.
bool needs_partitions(const setup::Run& run) {
  return !job::threads_per_core(run, run.platform.asking.partition) &&
         std::ranges::any_of(run.benchmark.steps, [](const model::Step& step) {
           return step.batch && !step.batch->pack.empty();
         });
}

/// One number limits a step, though its workpackages may each have another.
void check_max_async(const model::Benchmark& benchmark, const std::vector<Preview>& previews,
                     const store::Concurrency& concurrency, Diagnostics& diagnostics) {
  for (std::size_t k = 0; k < benchmark.steps.size(); ++k) {
    const model::Step& step = benchmark.steps[k];
    if (step.max_async.find('$') != std::string::npos &&
        std::ranges::any_of(previews, [&](const Preview& one) {
          return one.workpackage.step == step.name &&
                 concurrency.max_async_of(k, one.workpackage) != concurrency.most_unfinished(k);
        }))
      diagnostics.warn(
          fmt::format("max_async of step '{}' differs between its workpackages", step.name),
          fmt::format("that of the first counts for all: {}", concurrency.most_unfinished(k)),
          step.place);
  }
}

std::vector<std::string> texts_of(job::RenderContext context) {
  if (context.step.batch)
    context.variables["jube_starter"] = "";
  std::vector<std::string> texts;
  for (const model::Command& command : context.step.commands)
    if (!command.text.empty() && context.holds(command.active, command.place))
      texts.push_back(context.substitute(command.text));
  return texts;
}

}  // namespace

std::vector<Preview> preview(setup::Run& run, Diagnostics& diagnostics,
                             std::vector<std::string>& notices, bool with_texts) {
  if (needs_partitions(run))
    setup::ask_partitions(*platform::batch_system_of(run.platform), run);
  evaluate::Evaluator evaluator = workflow::evaluator_of(run);
  workflow::Graph graph(run, {}, evaluator);
  // As if each generation succeeded.
  for (auto made = graph.make_first(); !made.empty();) {
    std::vector<long long> released;
    for (const workspace::Workpackage& workpackage : made)
      released.push_back(workpackage.id);
    made = graph.make_children_of(released);
  }
  notices = graph.take_notices();
  for (const Warning& warning : graph.take_warnings())
    diagnostics.warn(warning.message, warning.hint, warning.place);

  store::Concurrency concurrency(run);
  std::vector<Preview> previews;
  for (const workspace::Workpackage& workpackage : graph.all()) {
    constexpr const char* uuid = "00000000-0000-0000-0000-000000000000";
    const job::Rendered rendered =
        job::render(run, workpackage, graph.variables_of(workpackage), uuid, evaluator);
    Preview& one = previews.emplace_back();
    one.workpackage = workpackage;
    one.script = rendered.script;
    one.request = rendered.request;
    if (with_texts)
      one.texts = texts_of({.run = run,
                            .step = *run.benchmark.step(workpackage.step),
                            .workpackage = workpackage,
                            .variables = graph.variables_of(workpackage),
                            .evaluator = evaluator});
    const std::size_t step = run.benchmark.index_of(workpackage.step);
    concurrency.learn(step, workpackage);
    one.at_once = concurrency.of_step(step);
    for (const execute::Snippet& snippet : rendered.snippets)
      one.commands.push_back(snippet.text);
  }
  check_max_async(run.benchmark, previews, concurrency, diagnostics);
  return previews;
}

}  // namespace bench::engine
