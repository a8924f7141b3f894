#include "needed_names.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/base/value.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/group.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::results {
namespace {

/// For the measured steps that these analysers do not read.
model::Analyser analyser_of_energy(const model::Benchmark& benchmark,
                                   const std::vector<model::Analyser>& others) {
  std::set<std::string> read;
  for (const model::Analyser& analyser : others)
    for (const model::Analysis& analysis : analyser.analyses)
      read.insert(analysis.step);
  model::Analyser analyser{.name = "energy, each workpackage", .reduce = false};
  for (const model::Step& step : benchmark.steps)
    if (step.energy && !read.contains(step.name))
      analyser.analyses.push_back({.step = step.name});
  return analyser;
}

}  // namespace

std::vector<model::Analyser> analysers_of_each(const model::Benchmark& benchmark) {
  const bool has_iterations = std::ranges::any_of(
      benchmark.steps, [](const model::Step& step) { return step.most_iterations() > 1; });
  std::vector<model::Analyser> analysers = benchmark.analysers;
  for (model::Analyser& analyser : analysers)
    if (analyser.reduce && has_iterations) {
      analyser.name = name_of_each(analyser.name);
      analyser.reduce = false;
    }
  if (model::Analyser energy = analyser_of_energy(benchmark, analysers); !energy.analyses.empty())
    analysers.push_back(std::move(energy));
  return analysers;
}

std::vector<model::Analyser> additional_analysers(const model::Benchmark& benchmark) {
  std::vector<model::Analyser> analysers = analysers_of_each(benchmark);
  std::erase_if(analysers, [&](const model::Analyser& one) {
    return benchmark.analyser(one.name) != nullptr;
  });
  return analysers;
}

std::string name_of_each(const std::string& analyser) {
  return analyser + ", each iteration";
}

void drop_statistics_of_one_value(FoundValues& findings) {
  std::set<std::string, std::less<>> single;
  for (const auto& [name, finding] : findings)
    if (name.ends_with("_cnt") && finding.present() && finding.value == Value(1LL))
      single.emplace(numbers::without_suffix(name));
  std::erase_if(findings, [&](const auto& finding) {
    const std::string_view base = numbers::without_suffix(finding.first);
    return base != finding.first && single.contains(base) && findings.contains(base);
  });
}

Analyses stored_analyses(const space::Run& run, const workspace::Workspace& workspace) {
  auto names = NeededNames(run.benchmark).names();
  Analyses analyses;
  const auto read = [&](const model::Analyser& analyser) {
    analyses[analyser.name] =
        names ? workspace.findings(analyser.name, *names) : workspace.findings(analyser.name);
  };
  for (const model::Analyser& analyser : run.benchmark.analysers)
    read(analyser);
  if (names)  // an iteration with several values has no spread
    for (const std::string& name : std::set<std::string>(*names))
      names->insert(name + "_cnt");
  for (const model::Analyser& analyser : additional_analysers(run.benchmark))
    read(analyser);
  return analyses;
}

bool is_each_analysed(const space::Run& run, const workspace::Workspace& workspace) {
  return std::ranges::all_of(
      analysers_of_each(run.benchmark),
      [&](const model::Analyser& analyser) { return workspace.analysed(analyser.name); });
}

Analyses stored_analyses_of_each(const space::Run& run, const workspace::Workspace& workspace) {
  Analyses analyses;
  for (const model::Analyser& analyser : analysers_of_each(run.benchmark)) {
    std::set<std::string> names = workspace.found_names(analyser.name);
    const std::set<std::string> above_one = workspace.found_names(analyser.name, 1);
    // Most names have one value at each workpackage, of which ten statistics say nothing.
    std::erase_if(names, [&, all = names](const std::string& name) {
      const std::string base(numbers::without_suffix(name));
      return base != name && all.contains(base) && !above_one.contains(base + "_cnt");
    });
    analyses[analyser.name] = workspace.findings(analyser.name, names);
  }
  return analyses;
}

}  // namespace bench::results
