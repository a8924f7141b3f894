#include "searcher.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/outcome.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/launch.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/cost.hpp>
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

/// Jobs with other settings are other jobs.
std::string text_of(const space::JobSettings& settings) {
  std::string text;
  for (const auto& [name, value] : settings)
    text += fmt::format(" {}={}", name, value);
  return text;
}

}  // namespace

double attempts_factor(const model::Step& step, int retries) {
  if (!step.retry)
    return 1;
  const bool grows = std::ranges::find(step.retry->on, Outcome::timeout) != step.retry->on.end();
  const double ratio = grows ? step.retry->time_limit_factor : 1;
  double sum = 1;
  for (int k = retries; k < step.retry->times; ++k)
    sum += std::pow(ratio, k + 1 - retries);
  return sum;
}

CostEstimate::CostEstimate(const space::Run& run)
    : run_(run), here_(!run.platform.capabilities().queues_jobs) {
  for (const model::Step& step : run.benchmark.steps)
    costs_.push_back({.step = step.name});
}

void CostEstimate::add(const std::string& step, const space::JobRequest& request, int retries) {
  const std::size_t index = run_.benchmark.index_of(step);
  StepCost& cost = costs_[index];
  ++cost.workpackages;
  if (here_ || !run_.benchmark.steps[index].batch)
    return;
  const machine::Resources& asked = request.resources;
  cost.least_nodes = cost.most_nodes == 0 ? asked.nodes : std::min(cost.least_nodes, asked.nodes);
  cost.most_nodes = std::max(cost.most_nodes, asked.nodes);
  cost.longest_s = std::max(cost.longest_s, request.time_limit_s);
  cost.unlimited = cost.unlimited || request.time_limit_s == 0;
  const std::string key =
      fmt::format("{} {} {} {} {} {} {}", index, asked.nodes, asked.tasks_per_node,
                  asked.threads_per_task, asked.gpus_per_node, request.time_limit_s, request.pack) +
      text_of(request.settings) + request.options;
  auto& [step_index, share] = shares_[key];
  step_index = index;
  share.request = request;
  ++share.workpackages;
  share.factor += attempts_factor(run_.benchmark.steps[index], retries);
}

std::vector<StepCost> CostEstimate::steps() const {
  constexpr double seconds_per_hour = 3600;
  std::vector<StepCost> costs = costs_;
  for (const auto& [key, entry] : shares_) {
    const auto& [index, share] = entry;
    const auto pack = static_cast<std::size_t>(share.request.pack);
    const std::size_t jobs = (share.workpackages + pack - 1) / pack;
    const double attempts = share.factor / static_cast<double>(share.workpackages);
    costs[index].jobs += jobs;
    costs[index].node_hours += static_cast<double>(jobs) * attempts *
                               share.request.resources.nodes * share.request.time_limit_s /
                               seconds_per_hour;
  }
  for (std::size_t k = 0; k < costs.size(); ++k)
    add_decisions(run_.benchmark.steps[k], costs[k]);
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
