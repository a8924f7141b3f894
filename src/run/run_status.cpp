#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/run/run_status.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

long long RunStatus::failed() const {
  return sum_of(counts).failed;
}

long long RunStatus::open() const {
  const workspace::StepCounts sum = sum_of(counts);
  return sum.all() - sum.ended();
}

std::vector<workspace::StepCounts> counts_by_step(const space::Run& run,
                                                  const workspace::Workspace& workspace) {
  const auto counted = workspace.counts();
  std::vector<workspace::StepCounts> counts;
  for (const model::Step& step : run.benchmark.steps) {
    const auto found = std::ranges::find(counted, step.name, &workspace::StepCounts::step);
    counts.push_back(found != counted.end() ? *found : workspace::StepCounts{.step = step.name});
  }
  return counts;
}

std::optional<RunStatus> status_if_finished(const space::Run& run,
                                            const workspace::Workspace& workspace) {
  // More may follow from what has ended.
  if (std::ranges::any_of(run.benchmark.steps,
                          [](const model::Step& step) { return step.repetition || step.search; }))
    return std::nullopt;
  std::set<std::string> with_children;
  for (const model::Step& step : run.benchmark.steps)
    with_children.insert(step.depend.begin(), step.depend.end());
  if (!workspace.is_finished(with_children))
    return std::nullopt;
  RunStatus status;
  status.counts = counts_by_step(run, workspace);
  return status;
}

std::vector<workspace::StepCounts> with_running_jobs(
    std::vector<workspace::StepCounts> counts, const std::map<std::string, long long>& running) {
  for (workspace::StepCounts& step : counts)
    if (const auto found = running.find(step.step); found != running.end()) {
      const long long moved = std::min(step.submitted, found->second);
      step.submitted -= moved;
      step.running += moved;
    }
  return counts;
}

}  // namespace bench::run
