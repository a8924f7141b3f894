#include "ready_queues.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/regex.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/preview.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/render.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>
#include <bench/space/variables.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {
namespace {

/// The threads of a pack's workpackages are whole cores, which the batch system may have to tell.
bool needs_partitions(const space::Run& run) {
  return !space::threads_per_core(run, run.platform.asking.partition) &&
         std::ranges::any_of(run.benchmark.steps, [](const model::Step& step) {
           return step.batch && step.batch->may_pack();
         });
}

/// One number limits a step, though its workpackages may each have another.
void check_max_async(const model::Benchmark& benchmark, const std::vector<Preview>& previews,
                     const Concurrency& concurrency, Diagnostics& diagnostics) {
  for (std::size_t k = 0; k < benchmark.steps.size(); ++k) {
    const model::Step& step = benchmark.steps[k];
    if (step.max_async.find('$') != std::string::npos &&
        std::ranges::any_of(previews, [&](const Preview& one) {
          return one.workpackage.step == step.name &&
                 concurrency.max_async_of(k, one.workpackage) != concurrency.most_unfinished(k);
        }))
      diagnostics.warn(
          Id::surprising_value,
          fmt::format("max_async of step '{}' differs between its workpackages", step.name),
          fmt::format("that of the first counts for all: {}", concurrency.most_unfinished(k)),
          step.place);
  }
}

std::vector<std::string> texts_of(space::RenderContext context) {
  if (context.step.batch)
    context.variables["jube_starter"] = "";
  std::vector<std::string> texts;
  for (const model::Command& command : context.step.commands)
    if (!command.text.empty() && context.holds(command.active, command.place))
      texts.push_back(context.substitute(command.text));
  return texts;
}

std::vector<long long> ids_of(const std::vector<workspace::Workpackage>& workpackages) {
  std::vector<long long> ids;
  for (const workspace::Workpackage& workpackage : workpackages)
    ids.push_back(workpackage.id);
  return ids;
}

using ParentTuples = std::vector<space::Graph::ParentTuple>;

/// The tuples of steps that do not depend on outputs.
ParentTuples known_ones(const model::Benchmark& benchmark, ParentTuples tuples) {
  std::erase_if(tuples,
                [&](const auto& tuple) { return depends_on_outputs(benchmark, *tuple.step); });
  return tuples;
}

/// A step that depends on outputs may fail now and succeed later.
std::vector<workspace::Workpackage> make_children(space::Graph& graph,
                                                  const model::Benchmark& benchmark,
                                                  const ParentTuples& tuples,
                                                  Diagnostics& diagnostics) {
  try {
    return graph.make_children(tuples);
  } catch (const Error&) {
    if (std::ranges::none_of(
            tuples, [&](const auto& one) { return depends_on_outputs(benchmark, *one.step); }))
      throw;
  }
  auto made = graph.make_children(known_ones(benchmark, tuples));
  for (const model::Step& step : benchmark.steps) {
    if (!depends_on_outputs(benchmark, step))
      continue;
    ParentTuples of_step = tuples;
    std::erase_if(of_step, [&](const auto& tuple) { return tuple.step != &step; });
    try {
      std::ranges::move(graph.make_children(of_step), std::back_inserter(made));
    } catch (const Error& error) {
      diagnostics.note(Id::surprising_value,
                       fmt::format("step '{}' cannot be expanded before its parents have run: {}",
                                   step.name, error.message()),
                       error.hint(), error.place());
    }
  }
  return made;
}

constexpr const char* no_uuid = "00000000-0000-0000-0000-000000000000";

}  // namespace

bool reaches_outside(const model::Parameter& parameter) {
  static const Regex words(
      R"(jube_wp_|\b(os|open|subprocess|exec|eval|__import__|time|grp|pwd)\b)");
  return parameter.mode == evaluate::Mode::shell || parameter.mode == evaluate::Mode::perl ||
         (parameter.mode == evaluate::Mode::python && words.search(parameter.text));
}

bool depends_on_outputs(const model::Benchmark& benchmark, const model::Step& step) {
  if (step.depend.empty())
    return false;
  const auto reads_outputs = [](const auto* parameter) { return reaches_outside(*parameter); };
  return std::ranges::any_of(model::possible_parameters(benchmark, step), reads_outputs) ||
         std::ranges::any_of(step.depend, [&](const std::string& parent) {
           return depends_on_outputs(benchmark, *benchmark.step(parent));
         });
}

void check_ahead(const space::Run& run, space::Graph& graph, evaluate::Evaluator& evaluator) {
  const bool are_sizes_known = !needs_partitions(run);
  std::vector<long long> released;
  for (const workspace::Workpackage& one : graph.all())
    if (!one.expanded && !one.expanded_ahead && one.state != workspace::State::failed)
      released.push_back(one.id);
  for (std::size_t begin = 0; begin < graph.all().size();) {
    for (; begin < graph.all().size(); ++begin)
      if (const workspace::Workpackage& one = graph.all()[begin];
          one.state == workspace::State::ready && are_sizes_known)
        space::render(run, one, graph.variables_of(one), no_uuid, evaluator);
    released =
        ids_of(graph.make_children(known_ones(run.benchmark, graph.parent_tuples_of(released))));
  }
}

std::vector<Preview> preview(space::Run& run, Diagnostics& diagnostics,
                             std::vector<std::string>& notices, bool with_texts) {
  if (needs_partitions(run))
    space::ask_partitions(*machine::batch_system_of(run.platform), run);
  evaluate::Evaluator evaluator = space::evaluator_of(run);
  space::Graph graph(run, {}, evaluator);
  // As if each generation succeeded.
  for (auto made = graph.make_first(); !made.empty();)
    made = make_children(graph, run.benchmark, graph.parent_tuples_of(ids_of(made)), diagnostics);
  notices = graph.take_notices();
  for (const Warning& warning : graph.take_warnings())
    diagnostics.warn(warning);

  Concurrency concurrency(run);
  std::vector<Preview> previews;
  for (const workspace::Workpackage& workpackage : graph.all()) {
    const space::Rendered rendered =
        space::render(run, workpackage, graph.variables_of(workpackage), no_uuid, evaluator);
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
    for (const machine::Snippet& snippet : rendered.snippets)
      one.commands.push_back(snippet.text);
  }
  check_max_async(run.benchmark, previews, concurrency, diagnostics);
  return previews;
}

}  // namespace bench::run
