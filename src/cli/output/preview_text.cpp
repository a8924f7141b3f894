#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/cli/output/preview_text.hpp>
#include <bench/run/cost.hpp>
#include <bench/run/preview.hpp>
#include <bench/space/run.hpp>

namespace bench::cli {
namespace {

using scheduler::StepCost;

/// @param workpackages how many have these parameters
std::string describe(const engine::Preview& one, std::size_t workpackages) {
  std::string text = fmt::format(
      "{}  {}{}\n", one.workpackage.directory, parameters_text(one.workpackage.parameters),
      workpackages > 1 ? fmt::format(" ({} workpackages)", workpackages) : "");
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

/// `1.5`, `20000`: node hours, to three digits where there are no more before the point.
std::string hours_text(double hours) {
  return fmt::format("{:.{}f}", hours, hours >= 100 ? 0 : hours >= 10 ? 1 : 2);
}

std::string at_once_text(int at_once) {
  return at_once == 0 ? "no limit" : std::to_string(at_once);
}

/// @param at_once of each step, how many of its workpackages run at a time
std::string costs_text(const std::vector<StepCost>& costs,
                       const std::map<std::string, int>& at_once) {
  std::vector<std::vector<std::string>> rows;
  StepCost sum{.step = "all"};
  for (const StepCost& cost : costs) {
    const bool here = cost.jobs == 0;
    const auto known = at_once.find(cost.step);
    rows.push_back({cost.step, std::to_string(cost.workpackages),
                    known == at_once.end() ? "" : at_once_text(known->second),
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
  std::vector<std::string> headings{"step", "workpackages", "at a time"};
  if (sum.jobs > 0) {
    rows.push_back({sum.step, std::to_string(sum.workpackages), "", std::to_string(sum.jobs), "",
                    "", sum.unlimited ? "?" : hours_text(sum.node_hours)});
    headings.insert(headings.end(), {"jobs", "nodes each", "time limit", "node hours at most"});
  } else {
    for (auto& row : rows)
      row.resize(headings.size());
  }
  return text_table(headings, rows);
}

/// The workpackages of one step that show what it does: all, or the first of the first
/// combinations.
std::string step_text(const StepCost& cost, const std::vector<engine::Preview>& previews,
                      bool all) {
  constexpr std::size_t most = 5;
  std::map<long long, std::size_t> workpackages;  // by combination
  for (const engine::Preview& one : previews)
    if (one.workpackage.step == cost.step)
      ++workpackages[one.workpackage.combination];
  std::string text;
  std::set<long long> shown;
  for (const engine::Preview& one : previews) {
    if (one.workpackage.step != cost.step)
      continue;
    const long long combination = one.workpackage.combination;
    if (all)
      text += describe(one, 1);
    else if (shown.size() < most && shown.insert(combination).second)
      text += describe(one, workpackages.at(combination));
  }
  if (!all && workpackages.size() > most)
    text += fmt::format("and {} more of step {}; --all shows them\n", workpackages.size() - most,
                        cost.step);
  return text;
}

}  // namespace

std::string preview_text(const setup::Run& run, const std::vector<engine::Preview>& previews,
                         bool all) {
  scheduler::CostEstimate sum(run);
  std::map<std::string, int> at_once;
  for (const engine::Preview& one : previews) {
    sum.add(one.workpackage.step, one.request);
    at_once[one.workpackage.step] = one.at_once;
  }
  const std::vector<StepCost> costs = sum.steps();
  std::string text = costs_text(costs, at_once) + "\n";
  for (const StepCost& cost : costs)
    text += step_text(cost, previews, all);
  return text + fmt::format("\nplatform {}; would run in {}; nothing was created or started\n",
                            run.platform.name, short_path(run.directory.path));
}

}  // namespace bench::cli
