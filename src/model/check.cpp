#include "check.hpp"

#include "by_name.hpp"
#include "read.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/model/use.hpp>

namespace bench::model {

using document::Node;

namespace {

/// @throws Error unless `name` is one of `known`; `what` is its kind.
void require(const std::string& name, const std::vector<std::string>& known, const char* what,
             const Place& place) {
  if (std::find(known.begin(), known.end(), name) != known.end())
    return;
  std::string hint = did_you_mean(name, known);
  if (hint.empty())
    hint = known.empty() ? fmt::format("this file defines no {}", what)
                         : fmt::format("known: {}", join(known, ", "));
  throw Error(fmt::format("there is no {} called '{}'", what, name), hint, place);
}

/// The names of all sets that a step can use.
std::vector<std::string> usable_sets(const Benchmark& benchmark) {
  auto names = names_of(benchmark.parameter_sets);
  for (const auto& more : {names_of(benchmark.file_sets), names_of(benchmark.substitute_sets)})
    names.insert(names.end(), more.begin(), more.end());
  return names;
}

void check_use(const Benchmark& benchmark, const std::string& name, const Place& place) {
  if (depends_on_parameters(name))
    return;  // known only with the values of its parameters, and may then be no set
  const auto sets = usable_sets(benchmark);
  if (benchmark.pattern_set(name) && !std::ranges::count(sets, name))
    throw Error(fmt::format("a step cannot use the pattern set '{}'", name),
                "pattern sets are for analysers", place);
  require(name, sets, "parameter, file or substitute set", place);
}

void check_steps(const Benchmark& benchmark, const Node& node) {
  const auto steps = names_of(benchmark.steps);
  const auto elements = node.all("step");
  for (std::size_t k = 0; k < benchmark.steps.size(); ++k) {
    for (const std::string& name : benchmark.steps[k].use)
      check_use(benchmark, name, place_of_use(*elements[k], name));
    for (const std::string& name : benchmark.steps[k].depend)
      require(name, steps, "step", place_of(*elements[k], "depend"));
  }
}

/// Follows `depend` depth first; `path` holds the steps on the way here.
void follow(const Benchmark& benchmark, const Step& step, std::vector<std::string>& path,
            std::set<std::string>& finished) {
  if (finished.contains(step.name))
    return;
  if (const auto first = std::find(path.begin(), path.end(), step.name); first != path.end())
    throw Error(fmt::format("steps depend on each other in a circle: {} -> {}",
                            join(std::vector<std::string>(first, path.end()), " -> "), step.name),
                "", step.place);
  path.push_back(step.name);
  for (const std::string& parent : step.depend)
    follow(benchmark, *benchmark.step(parent), path, finished);
  path.pop_back();
  finished.insert(step.name);
}

void check_depend(const Benchmark& benchmark) {
  std::vector<std::string> path;
  std::set<std::string> finished;
  for (const Step& step : benchmark.steps)
    follow(benchmark, step, path, finished);
}

void check_analysers(const Benchmark& benchmark, const Node& node) {
  const auto sets = names_of(benchmark.pattern_sets);
  const auto steps = names_of(benchmark.steps);
  for (std::size_t k = 0; k < benchmark.analysers.size(); ++k) {
    const Analyser& analyser = benchmark.analysers[k];
    for (const std::string& name : analyser.use)
      require(name, sets, "pattern set", place_of_use(*node.all("analyser")[k], name));
    for (const Analysis& analysis : analyser.analyses) {
      require(analysis.step, steps, "step", analysis.place);
      for (const AnalysedFile& file : analysis.files)
        for (const std::string& name : file.use)
          require(name, sets, "pattern set", file.place);
    }
  }
}

/// Tables, syslogs and databases share their names: the files of all are called after them.
void check_result_names(const Benchmark& benchmark) {
  std::set<std::string> names;
  const auto take = [&](const auto& outputs, const char* what) {
    for (const auto& one : outputs)
      if (!names.insert(one.name).second)
        throw Error(fmt::format("{} '{}' is defined twice", what, one.name),
                    "the tables, syslogs and databases of a benchmark have names of their own",
                    one.place);
  };
  for (const Result& result : benchmark.results) {
    take(result.tables, "table");
    take(result.syslogs, "syslog");
    take(result.databases, "database");
  }
}

void check_results(const Benchmark& benchmark, const Node& node) {
  const auto elements = node.all("result");
  for (std::size_t k = 0; k < benchmark.results.size(); ++k)
    for (const std::string& name : benchmark.results[k].use)
      require(name, names_of(benchmark.analysers), "analyser", place_of_use(*elements[k], name));
  check_result_names(benchmark);
}

using Names = std::set<std::string>;

/// Warns of those that nothing uses; `used` may hold names with parameters.
template <class Named>
void warn_unused(const std::vector<Named>& all, const Names& used, const char* what,
                 const char* who, Diagnostics& diagnostics) {
  for (const Named& one : all)
    if (std::ranges::none_of(used, [&](const auto& use) { return may_name(use, one.name); }))
      diagnostics.warn(fmt::format("{} '{}' is used by no {}", what, one.name, who), "", one.place);
}

void check_unused(const Benchmark& benchmark, Diagnostics& diagnostics) {
  Names by_steps, by_analysers, by_results;
  for (const Step& step : benchmark.steps)
    by_steps.insert(step.use.begin(), step.use.end());
  for (const Analyser& analyser : benchmark.analysers) {
    by_analysers.insert(analyser.use.begin(), analyser.use.end());
    for (const Analysis& analysis : analyser.analyses)
      for (const AnalysedFile& file : analysis.files)
        by_analysers.insert(file.use.begin(), file.use.end());
  }
  for (const Result& result : benchmark.results)
    by_results.insert(result.use.begin(), result.use.end());
  warn_unused(benchmark.parameter_sets, by_steps, "parameter set", "step", diagnostics);
  warn_unused(benchmark.file_sets, by_steps, "file set", "step", diagnostics);
  warn_unused(benchmark.substitute_sets, by_steps, "substitute set", "step", diagnostics);
  warn_unused(benchmark.pattern_sets, by_analysers, "pattern set", "analyser", diagnostics);
  warn_unused(benchmark.analysers, by_results, "analyser", "result", diagnostics);
}

}  // namespace

void check(const Benchmark& benchmark, const Node& node, Diagnostics& diagnostics) {
  if (benchmark.steps.empty())
    throw Error(fmt::format("benchmark '{}' has no step", benchmark.name),
                "add `step: {name: ..., do: ...}`", node.place);
  check_steps(benchmark, node);
  check_depend(benchmark);
  check_analysers(benchmark, node);
  check_results(benchmark, node);
  check_unused(benchmark, diagnostics);
  check_columns(benchmark, diagnostics);
}

}  // namespace bench::model
