#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/document/read.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/chained_steps.hpp>
#include <bench/run/input_check.hpp>
#include <bench/run/make_run.hpp>
#include <bench/run/preview.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/input.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/space/variables.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::run {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using workspace::Parameters;
using workspace::Workpackage;

/// Takes a directory back in which no run came into being, unless a script has put something there.
class EmptyDirectoryGuard {
 public:
  EmptyDirectoryGuard(fs::path directory, bool outpath_is_new)
      : directory_(std::move(directory)), outpath_is_new_(outpath_is_new) {}
  EmptyDirectoryGuard(const EmptyDirectoryGuard&) = delete;
  EmptyDirectoryGuard& operator=(const EmptyDirectoryGuard&) = delete;
  ~EmptyDirectoryGuard() {
    if (workspace::is_run(directory_))
      return;
    std::error_code not_empty;
    for (const char* own : {"workspace.lock", "workspace.db.new", "workspace.db.new-journal"})
      fs::remove(directory_ / own, not_empty);
    fs::remove(directory_, not_empty);
    if (outpath_is_new_)
      fs::remove(directory_.parent_path(), not_empty);
  }

 private:
  fs::path directory_;
  bool outpath_is_new_;
};

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

NewRun make_run(space::Run& run, const space::Request& request, Diagnostics& diagnostics,
                std::vector<std::string>& notices) {
  const fs::path outpath = run.directory.path.parent_path();
  const bool outpath_is_new = !fs::exists(outpath);
  run.directory = workspace::make_run_directory(outpath, request.id);
  const EmptyDirectoryGuard guard(run.directory.path, outpath_is_new);
  run.metadata.id = std::to_string(run.directory.id);
  evaluate::Evaluator evaluator = space::evaluator_of(run);
  space::Graph graph(run, {}, evaluator);
  const workspace::Events first{workspace::Expanded{.parents = {}, .children = graph.make_first()}};
  std::ranges::move(graph.take_notices(), std::back_inserter(notices));
  for (const Warning& warning : graph.take_warnings())
    diagnostics.warn(warning);
  check_ahead(run, graph, evaluator);
  // Nobody else may write from the moment on at which the run can be found.
  workspace::WriterLock lock(run.directory.path);
  auto workspace =
      workspace::Workspace::create(run.directory.path, space::facts_of(run.metadata), first);
  return {.lock = std::move(lock), .workspace = std::move(workspace)};
}

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

namespace {

constexpr const char* point_hint =
    R"(write an object of texts and numbers: {"batch_size": 64, "precision": "bf16"})";

bool has(const model::Benchmark& benchmark, const model::Step& step, const std::string& name) {
  return space::definition_of(benchmark, step, name) != nullptr;
}

const model::Step& step_with(const model::Benchmark& benchmark, const Parameters& point,
                             const std::string& wanted) {
  std::set<std::string> known;
  for (const model::Step& step : benchmark.steps) {
    if (!wanted.empty() && step.name != wanted)
      continue;
    if (std::ranges::all_of(point,
                            [&](const auto& one) { return has(benchmark, step, one.first); }))
      return step;
    for (const model::ParameterSet& set : benchmark.parameter_sets)
      for (const model::Parameter& parameter : set.parameters)
        if (has(benchmark, step, parameter.name))
          known.insert(parameter.name);
  }
  if (!wanted.empty() && !benchmark.step(wanted))
    throw Error(Id::unknown_name, fmt::format("the benchmark has no step '{}'", wanted));
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& [name, value] : point)
    if (!known.contains(name))
      throw Error(Id::unknown_name, fmt::format("no step has a parameter '{}'", name),
                  suggestion(name, names, "the parameters are "));
  throw Error(Id::unknown_name, "no step has all of these parameters",
              "`bench info -s -p` shows those of each step");
}

/// One workpackage for each combination of the parameters that the point does not set.
std::vector<long long> bases_of(const space::Graph& graph, const std::string& step,
                                const std::set<std::string>& names) {
  std::map<std::pair<std::vector<long long>, space::FixedValues>, long long> bases;
  for (const Workpackage& one : graph.all())
    if (one.step == step && !one.was_never_made())
      bases.try_emplace({one.parents, graph.independent_values(one, names)}, one.id);
  std::vector<long long> ids;
  for (const auto& [key, id] : bases)
    ids.push_back(id);
  std::ranges::sort(ids);
  return ids;
}

/// Programs that compute with floating-point numbers write `32.0` for an integer.
void write_integers_as_such(const model::Benchmark& benchmark, const model::Step& step,
                            Parameters& point) {
  constexpr double most = 9007199254740992;  // beyond it, doubles leave integers out
  for (auto& [name, value] : point) {
    const auto* definition = space::definition_of(benchmark, step, name);
    const auto number = parse_number(value);
    if (definition && definition->type == ValueType::integer && number &&
        std::trunc(*number) == *number && std::abs(*number) < most)
      value = fmt::format("{:.0f}", *number);
  }
}

std::vector<long long> members_at(const space::Graph& graph, const std::string& step,
                                  const Parameters& point) {
  std::vector<long long> ids;
  for (const Workpackage& one : graph.all())
    if (one.step == step && !one.was_never_made() && workspace::is_at(one.parameters, point))
      ids.push_back(one.id);
  return ids;
}

}  // namespace

Parameters point_from_json(const std::string& text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object() || object.empty())
    throw Error(Id::invalid_value, fmt::format("a point must be a JSON object, not '{}'", text),
                point_hint);
  Parameters point;
  for (const auto& [name, value] : object.items()) {
    if (!value.is_primitive() || value.is_null())
      throw Error(Id::invalid_value,
                  fmt::format("parameter '{}' must be a text, a number or a boolean, not {}", name,
                              value.is_null()    ? "null"
                              : value.is_array() ? "a list"
                                                 : "an object"),
                  point_hint);
    point.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return point;
}

AddedPoint add_point(const space::Run& run, workspace::Workspace& workspace, const Parameters& told,
                     const std::string& step, Diagnostics& diagnostics) {
  const model::Step& chosen = step_with(run.benchmark, told, step);
  Parameters point = told;
  write_integers_as_such(run.benchmark, chosen, point);
  evaluate::Evaluator evaluator = space::evaluator_of(run);
  space::Graph graph(run, workspace.workpackages(), evaluator);
  AddedPoint added{.workpackages = members_at(graph, chosen.name, point)};
  if (!added.workpackages.empty())
    return added;
  const space::FixedValues values(point.begin(), point.end());
  std::set<std::string> names;
  for (const auto& [name, value] : point)
    names.insert(name);
  const std::vector<long long> bases = bases_of(graph, chosen.name, names);
  if (bases.empty())
    throw Error(Id::wrong_state, fmt::format("step '{}' has no workpackage yet", chosen.name),
                "`bench continue` creates them once its parents are done");
  std::vector<Workpackage> made;
  for (const long long base : bases)
    std::ranges::move(graph.make_variant(base, values), std::back_inserter(made));
  for (const Warning& warning : graph.take_warnings())
    diagnostics.warn(warning);
  if (made.empty())
    throw Error(Id::conflict,
                fmt::format("`where` or `active` of step '{}' drops this point", chosen.name));
  for (const Workpackage& one : made)
    added.workpackages.push_back(one.id);
  added.is_new = true;
  workspace.replay({workspace::Expanded{.parents = {}, .children = std::move(made)}});
  return added;
}

}  // namespace bench::run
