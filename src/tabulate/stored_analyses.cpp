#include "needed_names.hpp"

#include <bench/model/benchmark.hpp>
#include <bench/setup/run.hpp>
#include <bench/tabulate/report.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::tabulate {

Analyses stored_analyses(const setup::Run& run, const workspace::Workspace& workspace) {
  const auto names = NeededNames(run.benchmark).names();
  Analyses analyses;
  for (const model::Analyser& analyser : run.benchmark.analysers)
    analyses[analyser.name] =
        names ? workspace.findings(analyser.name, *names) : workspace.findings(analyser.name);
  return analyses;
}

}  // namespace bench::tabulate
