#include "searcher.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/outcome.hpp>
#include <bench/base/text.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/cost.hpp>
#include <bench/run/preview.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/run.hpp>

namespace bench::run {
namespace {

/// Counts what a step that searches, or repeats until something is known, may add.
void add_decisions(const model::Step& step, StepCost& cost) {
  const double factor = static_cast<double>(step.most_iterations()) / step.iterations *
                        (step.search ? most_values(*step.search) : 1);
  cost.jobs = static_cast<std::size_t>(std::ceil(static_cast<double>(cost.jobs) * factor));
  cost.node_hours *= factor;
}

std::string node_hours_text(double hours) {
  return fmt::format("{:.{}f}", hours, hours >= 100 ? 0 : 2);
}

}  // namespace

double attempts_factor(const model::Step& step) {
  if (!step.retry)
    return 1;
  const bool grows = std::ranges::find(step.retry->on, Outcome::timeout) != step.retry->on.end();
  const double ratio = grows ? step.retry->time_limit_factor : 1;
  double sum = 1;
  for (int k = 1; k <= step.retry->times; ++k)
    sum += std::pow(ratio, k);
  return sum;
}

std::vector<StepCost> costs_of(const space::Run& run, const std::vector<Preview>& previews) {
  constexpr double seconds_per_hour = 3600;
  const std::vector<model::Step>& steps = run.benchmark.steps;
  const bool queues_jobs = run.platform.capabilities().queues_jobs;
  std::vector<StepCost> costs;
  for (const model::Step& step : steps)
    costs.push_back({.step = step.name});
  // Workpackages of one step that ask for the same can share jobs.
  std::map<std::pair<std::size_t, space::JobRequest>, std::size_t> workpackages;
  for (const Preview& one : previews) {
    const std::size_t index = run.benchmark.index_of(one.workpackage.step);
    ++costs[index].workpackages;
    if (queues_jobs && steps[index].batch)
      ++workpackages[{index, one.request}];
  }
  for (const auto& [key, count] : workpackages) {
    const auto& [index, request] = key;
    const int nodes = request.resources.nodes;
    const auto pack = static_cast<std::size_t>(request.pack);
    const std::size_t jobs = (count + pack - 1) / pack;
    StepCost& cost = costs[index];
    cost.least_nodes = cost.most_nodes == 0 ? nodes : std::min(cost.least_nodes, nodes);
    cost.most_nodes = std::max(cost.most_nodes, nodes);
    cost.longest_s = std::max(cost.longest_s, request.time_limit_s);
    cost.unlimited = cost.unlimited || request.time_limit_s == 0;
    cost.jobs += jobs;
    cost.node_hours += static_cast<double>(jobs) * attempts_factor(steps[index]) * nodes *
                       request.time_limit_s / seconds_per_hour;
  }
  for (std::size_t k = 0; k < costs.size(); ++k)
    add_decisions(steps[k], costs[k]);
  return costs;
}

void check_budget(const space::Run& run, const std::vector<StepCost>& costs) {
  if (!run.metadata.budget_node_hours)
    return;
  const double budget_h = *run.metadata.budget_node_hours;
  double sum_h = 0;
  std::vector<std::string> shares;
  for (const StepCost& cost : costs) {
    if (cost.unlimited)
      throw Error(Id::missing_key,
                  fmt::format("the jobs of step '{}' have no time limit, so they cannot be "
                              "held against the budget",
                              cost.step),
                  "give its `batch` a `time_limit`", run.benchmark.step(cost.step)->batch->place);
    sum_h += cost.node_hours;
    if (cost.jobs > 0)
      shares.push_back(fmt::format("{} {} ({} job{})", cost.step, node_hours_text(cost.node_hours),
                                   cost.jobs, cost.jobs == 1 ? "" : "s"));
  }
  if (sum_h > budget_h)
    throw Error(Id::budget_exceeded,
                fmt::format("the run may take {} node hours, and its budget is {}: {}",
                            node_hours_text(sum_h), node_hours_text(budget_h), join(shares, ", ")),
                "`bench run -n` shows how they come about; shorten `time_limit` or the sweep, or "
                "raise --budget");
}

}  // namespace bench::run
