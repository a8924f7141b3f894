#include "check.hpp"

#include "by_name.hpp"
#include "read.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include <bench/base/text.hpp>

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

void check_steps(const Benchmark& benchmark, const Node& node) {
  const auto steps = names_of(benchmark.steps);
  const auto sets = names_of(benchmark.parameter_sets);
  for (std::size_t k = 0; k < benchmark.steps.size(); ++k) {
    const Node& element = *node.all("step")[k];
    for (const std::string& name : benchmark.steps[k].use) {
      const Place& place = place_of_use(element, name);
      if (name.find('$') != std::string::npos)
        throw Error("parameters in `use` are not supported by this version of bench", "", place);
      require(name, sets, "parameter set", place);
    }
    for (const std::string& name : benchmark.steps[k].depend)
      require(name, steps, "step", place_of(element, "depend"));
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

void check_results(const Benchmark& benchmark, const Node& node) {
  std::set<std::string> names;
  for (std::size_t k = 0; k < benchmark.results.size(); ++k) {
    const Result& result = benchmark.results[k];
    for (const std::string& name : result.use)
      require(name, names_of(benchmark.analysers), "analyser",
              place_of_use(*node.all("result")[k], name));
    for (const Table& table : result.tables)
      if (!names.insert(table.name).second)
        throw Error(fmt::format("table '{}' is defined twice", table.name), "", table.place);
  }
}

template <class Named>
void warn_unused(const std::vector<Named>& all, const std::set<std::string>& used, const char* what,
                 const char* who, Diagnostics& diagnostics) {
  for (const Named& one : all)
    if (!used.contains(one.name))
      diagnostics.warn(fmt::format("{} '{}' is used by no {}", what, one.name, who), "", one.place);
}

void check_unused(const Benchmark& benchmark, Diagnostics& diagnostics) {
  std::set<std::string> parameter_sets, pattern_sets, analysers;
  for (const Step& step : benchmark.steps)
    parameter_sets.insert(step.use.begin(), step.use.end());
  for (const Analyser& analyser : benchmark.analysers) {
    pattern_sets.insert(analyser.use.begin(), analyser.use.end());
    for (const Analysis& analysis : analyser.analyses)
      for (const AnalysedFile& file : analysis.files)
        pattern_sets.insert(file.use.begin(), file.use.end());
  }
  for (const Result& result : benchmark.results)
    analysers.insert(result.use.begin(), result.use.end());
  warn_unused(benchmark.parameter_sets, parameter_sets, "parameter set", "step", diagnostics);
  warn_unused(benchmark.pattern_sets, pattern_sets, "pattern set", "analyser", diagnostics);
  warn_unused(benchmark.analysers, analysers, "analyser", "result", diagnostics);
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
