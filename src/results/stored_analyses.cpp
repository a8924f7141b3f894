#include "each_workpackage.hpp"
#include "needed_names.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/analyses.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::tabulate {

Analyses stored_analyses(const setup::Run& run, const workspace::Workspace& workspace) {
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

bool is_each_analysed(const setup::Run& run, const workspace::Workspace& workspace) {
  return std::ranges::all_of(
      analysers_of_each(run.benchmark),
      [&](const model::Analyser& analyser) { return workspace.analysed(analyser.name); });
}

Analyses stored_analyses_of_each(const setup::Run& run, const workspace::Workspace& workspace) {
  Analyses analyses;
  for (const model::Analyser& analyser : analysers_of_each(run.benchmark)) {
    std::set<std::string> names = workspace.found_names(analyser.name);
    const std::set<std::string> above_one = workspace.found_names(analyser.name, 1);
    // Most names have one value at each workpackage, of which ten statistics say nothing.
    std::erase_if(names, [&, all = names](const std::string& name) {
      const std::string base(statistics::without_suffix(name));
      return base != name && all.contains(base) && !above_one.contains(base + "_cnt");
    });
    analyses[analyser.name] = workspace.findings(analyser.name, names);
  }
  return analyses;
}

}  // namespace bench::tabulate
