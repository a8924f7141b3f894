#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/text.hpp>
#include <bench/document/read.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/chained_steps.hpp>
#include <bench/run/extend.hpp>
#include <bench/run/input_check.hpp>
#include <bench/run/preview.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/input.hpp>
#include <bench/space/run.hpp>
#include <bench/space/variables.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {
namespace {

using workspace::Workpackage;

constexpr const char* start_another = "`bench run FILE` starts a new run with it";

/// The number of repeated parents of a step.
std::ptrdiff_t repeated_parents(const model::Benchmark& benchmark, const model::Step& step) {
  return std::ranges::count_if(step.depend, [&](const std::string& name) {
    const model::Step& parent = *benchmark.step(name);
    return parent.most_iterations() > 1 || repeated_parents(benchmark, parent) > 0;
  });
}

/// A step with repeated parents numbers its iterations continuously over all of them.
void check_iterations(const model::Benchmark& before, const model::Benchmark& updated,
                      const model::Step& step) {
  const model::Step* known = before.step(step.name);
  if (!known)
    return;
  if (repeated_parents(before, *known) > 1 || repeated_parents(updated, step) > 1)
    for (const std::string& name : step.depend)
      if (const model::Step* parent = before.step(name);
          parent && parent->most_iterations() != updated.step(name)->most_iterations())
        throw Error(Id::input_changed,
                    fmt::format("step '{}' depends on several repeated steps, and '{}' had {} "
                                "iterations and now has {}: the numbers of its own would change",
                                step.name, name, parent->most_iterations(),
                                updated.step(name)->most_iterations()),
                    start_another, updated.step(name)->place);
  if (known->most_iterations() != step.most_iterations() && repeated_parents(before, *known) > 0)
    throw Error(Id::input_changed,
                fmt::format("step '{}' had {} iterations for each of its parents' and now has {}: "
                            "the numbers of the new ones would be taken",
                            step.name, known->most_iterations(), step.most_iterations()),
                start_another, step.place);
}

/// Checks that existing workpackages have a place in the new benchmark.
void check_fit(const space::Run& run, const model::Benchmark& updated, const std::string& file,
               const std::vector<Workpackage>& all) {
  for (const model::Step& step : updated.steps)
    check_iterations(run.benchmark, updated, step);
  for (const Workpackage& workpackage : all) {
    const model::Step* step = updated.step(workpackage.step);
    if (!step)
      throw Error(Id::input_changed,
                  fmt::format("run {} has workpackages of step '{}', which {} does not have",
                              run.directory.id, workpackage.step, file),
                  start_another, updated.place);
    if (workpackage.progress.command > 0 &&
        workpackage.progress.command >= static_cast<int>(step->commands.size()))
      throw Error(Id::input_changed,
                  fmt::format("workpackage {} continues with command {} of step '{}', which now "
                              "has {}",
                              workpackage.id, workpackage.progress.command + 1, step->name,
                              step->commands.size()),
                  "finish it first with `bench continue`", step->place);
  }
}

/// The workspace records which children of chained steps exist, so these steps must stay chained.
void check_chain(space::Run updated) {
  updated.platform = space::platform_of(updated);
  for (const std::string& name : space::chained_steps(updated))
    if (const model::Step* step = updated.benchmark.step(name))
      if (const std::string blocker = chain_blocker(updated, *step); !blocker.empty())
        throw Error(Id::input_changed,
                    fmt::format("step '{}' is chained in run {}, and could not be with this input: "
                                "{}",
                                name, updated.directory.id, blocker),
                    start_another, step->place);
}

}  // namespace

space::Run with_updated_input(const space::Run& run, const workspace::Workspace& workspace,
                              space::Request request, Diagnostics& diagnostics) {
  for (const std::string& tag : split_names(run.metadata.tags))
    request.tags_of_run.insert(tag);
  request.platform = space::platform_source(run);
  request.only_benchmarks = {run.benchmark.name};
  request.outpath = run.directory.path.parent_path().string();
  space::Input input = space::read_input(request, diagnostics);
  if (input.benchmarks.empty())
    throw Error(
        Id::unknown_name,
        fmt::format("{} has no benchmark '{}'", request.input_file.string(), run.benchmark.name),
        "the update must contain a benchmark of the same name");
  check_input(input, diagnostics);
  space::Run updated = run;
  updated.benchmark = input.benchmarks.front();
  check_fit(run, updated.benchmark, request.input_file.string(), workspace.workpackages());
  updated.metadata.document = document::to_json(input.document);
  updated.metadata.input_file =
      std::filesystem::absolute(request.input_file).lexically_normal().string();
  updated.metadata.home = space::home_of(updated.benchmark, input).string();
  updated.metadata.input_sha256 = sha256_of_file(request.input_file.string());
  space::draw_order_seed(updated);
  if (updated.metadata.chained)
    check_chain(updated);
  return updated;
}

Extension extend_run(const space::Run& run, const model::Benchmark& before,
                     workspace::Workspace& workspace, Diagnostics& diagnostics,
                     std::vector<std::string>& notices) {
  evaluate::Evaluator evaluator = space::evaluator_of(run);
  space::Graph graph(run, workspace.workpackages(), evaluator);
  space::Graph::Missing missing = graph.make_missing(before);
  std::ranges::move(graph.take_notices(), std::back_inserter(notices));
  for (const Warning& warning : graph.take_warnings())
    diagnostics.warn(warning);
  check_ahead(run, graph, evaluator);
  const Extension extension{
      .added = missing.made.size(), .obsolete = missing.obsolete, .kept = std::move(missing.kept)};
  workspace.at_once([&] {
    for (const char* fact : {"document", "home", "input_file", "input_sha256"})
      space::store_fact(fact, run, workspace);
    if (run.metadata.order_seed)
      space::store_fact("order_seed", run, workspace);
    workspace.replay({workspace::Expanded{.parents = {}, .children = std::move(missing.made)}});
  });
  return extension;
}

}  // namespace bench::run
