#include <algorithm>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/engine/budget.hpp>

namespace bench::engine {
namespace {

/// A unit of budgets, and how many of it an hour of a node is.
struct Unit {
  const char* suffix;
  const char* name;
  const char* fact;  ///< Of the machine; null: node hours.
  platform::MaybeFact platform::Machine::*per_node;
};
constexpr Unit budget_units[] = {
    {"nh", "node hours", nullptr, nullptr},
    {"ch", "core hours", "cores_per_node", &platform::Machine::cores_per_node},
    {"gh", "GPU hours", "devices_per_node", &platform::Machine::devices_per_node},
};

std::string node_hours_text(double hours) {
  return fmt::format("{:.{}f}", hours, hours >= 100 ? 0 : 2);
}

}  // namespace

double parse_budget_h(const std::string& text, const platform::Platform& platform) {
  for (const Unit& unit : budget_units) {
    if (!text.ends_with(unit.suffix))
      continue;
    const auto number = parse_number(strip(std::string_view(text).substr(0, text.size() - 2)));
    if (!number || !(*number > 0) || *number > 1e12)
      break;
    if (!unit.per_node)
      return *number;
    const platform::MaybeFact& fact = platform.machine.*unit.per_node;
    if (!fact || fact->unconfirmed || !(fact->value > 0))
      throw Error(fmt::format("platform {} has no confirmed `{}`, so that it cannot count {}",
                              platform.name, unit.fact, unit.name),
                  "give the budget in node hours: 50nh");
    return *number / fact->value;
  }
  throw Error(fmt::format("'{}' is no budget", text),
              "a number of node hours, core hours or GPU hours: 50nh, 3200ch, 200gh");
}

void set_budget(const std::string& text, Run& run) {
  if (run.platform.scheduler == platform::Scheduler::none)
    throw Error(fmt::format("platform {} has no batch system, so that there are no jobs to count",
                            run.platform.name),
                "leave --budget out, or choose a machine with --platform");
  run.facts[budget_fact] = python_float(parse_budget_h(text, run.platform));
}

void check_budget(const Run& run, const std::vector<StepCost>& costs) {
  const auto fact = run.facts.find(budget_fact);
  if (fact == run.facts.end())
    return;
  const double budget_h = parse_number(fact->second).value_or(0);
  double sum_h = 0;
  std::vector<std::string> shares;
  for (const StepCost& cost : costs) {
    if (cost.unlimited)
      throw Error(fmt::format("the jobs of step '{}' have no time limit, so that nobody knows "
                              "whether they stay within the budget",
                              cost.step),
                  "give its `batch` a `time_limit`", run.benchmark.step(cost.step)->batch->place);
    sum_h += cost.node_hours;
    if (cost.jobs > 0)
      shares.push_back(fmt::format("{} {} ({} job{})", cost.step, node_hours_text(cost.node_hours),
                                   cost.jobs, cost.jobs == 1 ? "" : "s"));
  }
  if (sum_h > budget_h)
    throw Error(fmt::format("the run may take {} node hours, and its budget is {}: {}",
                            node_hours_text(sum_h), node_hours_text(budget_h), join(shares, ", ")),
                "`bench run -n` shows how they come about; shorten `time_limit` or the sweep, or "
                "raise --budget");
}

}  // namespace bench::engine
