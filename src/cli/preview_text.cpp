#include "preview_text.hpp"

#include "output.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>

namespace bench::cli {
namespace {

using engine::StepCost;

std::string describe(const engine::Preview& one) {
  std::string text = fmt::format("{}  {}\n", one.workpackage.directory,
                                 parameters_text(one.workpackage.parameters));
  for (const std::string& command : one.commands)
    text += "    $ " + replace_all(command, "\n", "\n      ") + "\n";
  if (!one.script.empty())
    text += "    job script:\n    | " +
            replace_all(std::string(strip(one.script)), "\n", "\n    | ") + "\n";
  return text;
}

std::string nodes_text(const StepCost& cost) {
  if (cost.least_nodes == cost.most_nodes)
    return std::to_string(cost.most_nodes);
  return fmt::format("{} to {}", cost.least_nodes, cost.most_nodes);
}

std::string limit_text(const StepCost& cost) {
  if (cost.longest_s == 0)
    return "none";
  return (cost.unlimited ? "none, " : "") + human_duration(cost.longest_s);
}

}  // namespace

std::string hours_text(double hours) {
  return fmt::format("{:.{}f}", hours, hours >= 100 ? 0 : hours >= 10 ? 1 : 2);
}

std::string costs_text(const std::vector<StepCost>& costs) {
  std::vector<std::vector<std::string>> rows;
  StepCost sum{.step = "all"};
  for (const StepCost& cost : costs) {
    const bool here = cost.jobs == 0;
    rows.push_back({cost.step, std::to_string(cost.workpackages),
                    here ? "" : std::to_string(cost.jobs), here ? "" : nodes_text(cost),
                    here ? "" : limit_text(cost),
                    here             ? ""
                    : cost.unlimited ? "?"
                                     : hours_text(cost.node_hours)});
    sum.workpackages += cost.workpackages;
    sum.jobs += cost.jobs;
    sum.unlimited = sum.unlimited || cost.unlimited;
    sum.node_hours += cost.node_hours;
  }
  std::vector<std::string> headings{"step", "workpackages"};
  if (sum.jobs > 0) {
    rows.push_back({sum.step, std::to_string(sum.workpackages), std::to_string(sum.jobs), "", "",
                    sum.unlimited ? "?" : hours_text(sum.node_hours)});
    headings.insert(headings.end(), {"jobs", "nodes each", "time limit", "node hours at most"});
  } else {
    for (auto& row : rows)
      row.resize(headings.size());
  }
  return text_table(headings, rows);
}

std::string preview_text(const engine::Run& run, const std::vector<engine::Preview>& previews,
                         bool all) {
  constexpr std::size_t most = 5;
  engine::CostSum sum(run);
  for (const engine::Preview& one : previews)
    sum.add(one.workpackage.step, one.geometry);
  const std::vector<StepCost> costs = sum.steps();
  std::string text = costs_text(costs) + "\n";
  std::map<std::string, std::size_t> shown;
  for (const engine::Preview& one : previews)
    if (shown[one.workpackage.step]++ < most || all)
      text += describe(one);
  for (const StepCost& cost : costs)
    if (cost.workpackages > most && !all)
      text += fmt::format("and {} more of step {}; --all shows them\n", cost.workpackages - most,
                          cost.step);
  return text + fmt::format("\nplatform {}; would run in {}; nothing was made or started\n",
                            run.platform.name, short_path(run.directory.path));
}

}  // namespace bench::cli
