#include <string>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/machine/machine.hpp>
#include <bench/machine/platform.hpp>
#include <bench/space/budget.hpp>
#include <bench/space/run.hpp>

namespace bench::setup {
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
      throw Error(Id::missing_key,
                  fmt::format("platform {} has no confirmed `{}`: cannot count {}", platform.name,
                              unit.fact, unit.name),
                  "give the budget in node hours: 50nh");
    return *number / fact->value;
  }
  throw Error(Id::invalid_value, fmt::format("invalid budget '{}'", text),
              "use node hours, core hours or GPU hours: 50nh, 3200ch, 200gh");
}

void set_budget(const std::string& text, Run& run) {
  if (!run.platform.capabilities().queues_jobs)
    throw Error(Id::unsupported,
                fmt::format("platform {} has no batch system, so there are no jobs to count",
                            run.platform.name),
                "remove --budget, or select a machine with --platform");
  run.metadata.budget_node_hours = parse_budget_h(text, run.platform);
}

}  // namespace bench::setup
