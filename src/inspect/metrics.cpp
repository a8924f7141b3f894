#include "metrics.hpp"

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/inspect/difference.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/meter_names.hpp>
#include <bench/statistics/statistics.hpp>
#include <bench/tabulate/analyses.hpp>
#include <bench/unit/unit.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::inspect {
namespace {

using model::Better;
using workspace::Finding;
using workspace::Workpackage;

constexpr auto run_time = "run_time";

std::optional<double> number_of(const Finding& finding) {
  return finding.value ? as_number(*finding.value) : std::nullopt;
}

class Reader {
 public:
  Reader(const Side& side, const std::set<std::string>& wanted) : side_(side), wanted_(wanted) {}

  MeasuredRun read() {
    read_workpackages();
    for (const auto& [analyser, findings] : side_.analyses)
      if (!side_.analyses.contains(tabulate::name_of_each(analyser)))
        read_findings(findings);
    if (wanted_.empty())
      remove_copies_of_total();
    read_attempts();
    return std::move(run_);
  }

 private:
  void read_workpackages() {
    std::unordered_map<long long, workspace::Parameters> of_first;
    for (Workpackage& one : side_.workspace.workpackages()) {
      if (one.id == one.combination)
        of_first.emplace(one.id, one.parameters);
      if (const auto first = of_first.find(one.combination); first != of_first.end())
        one.parameters = first->second;
      const bool is_done = one.state == workspace::State::done;
      if (is_done)
        done_.insert(one.id);
      (is_done ? run_.done : run_.not_done).push_back(std::move(one));
    }
  }

  bool is_wanted(const std::string& name, const std::set<std::string>& names) const {
    if (!wanted_.empty())
      return wanted_.contains(name);
    const std::string base(statistics::without_suffix(name));
    return (base == name || !names.contains(base)) && !model::is_about_measuring(base);
  }

  void read_findings(const std::vector<Finding>& findings) {
    std::set<std::string> names;
    for (const Finding& finding : findings)
      names.insert(finding.name);
    for (const Finding& finding : findings) {
      if (is_wanted(finding.name, names))
        add(finding.name, finding);
      for (const model::Remark& remark : model::remarks)
        if (finding.name == remark.name && finding.value && done_.contains(finding.workpackage))
          run_.doubted[std::string(remark.what)].insert(finding.workpackage);
    }
    // The mean of several values takes the place of the first.
    for (const Finding& finding : findings)
      if (finding.name.ends_with("_avg"))
        if (const std::string base = finding.name.substr(0, finding.name.size() - 4);
            names.contains(base) && is_wanted(base, names))
          add(base, finding);
  }

  void add(const std::string& name, const Finding& finding) {
    const auto number = number_of(finding);
    if (!number || !done_.contains(finding.workpackage))
      return;
    Metric& metric = run_.metrics[name];
    if (metric.unit.empty())
      metric.unit = finding.unit;
    metric.estimated |= finding.estimated;
    metric.values[finding.workpackage] = *number;
  }

  /// With a single source of power, its energy is the total. To compare both would say everything
  /// twice, and ask for more certainty as for two findings.
  void remove_copies_of_total() {
    const auto total = run_.metrics.find("energy_wh");
    if (total == run_.metrics.end())
      return;
    std::erase_if(run_.metrics, [&](const auto& metric) {
      const auto& [name, one] = metric;
      return name != total->first && name.starts_with("energy_") && name.ends_with("_wh") &&
             one.values == total->second.values;
    });
  }

  void read_attempts() {
    const bool is_time_wanted = wanted_.contains(run_time) || run_.metrics.empty();
    for (const workspace::Attempt& attempt : side_.workspace.attempts()) {
      if (!attempt.started_unix_s || !done_.contains(attempt.workpackage))
        continue;
      run_.starts_unix_s[attempt.workpackage] = *attempt.started_unix_s;
      if (!is_time_wanted || !attempt.ended_unix_s)
        continue;
      Metric& metric = run_.metrics[run_time];
      metric.unit = "s";
      metric.values[attempt.workpackage] = *attempt.ended_unix_s - *attempt.started_unix_s;
    }
  }

  const Side& side_;
  const std::set<std::string>& wanted_;
  std::set<long long> done_;
  MeasuredRun run_;
};

bool is_time(std::string_view unit) {
  return unit::conversion_factor(unit, "s").has_value();
}

bool is_rate(std::string_view unit) {
  const auto slash = unit.rfind('/');
  return slash != std::string_view::npos && is_time(unit.substr(slash + 1));
}

}  // namespace

MeasuredRun measured_run(const Side& side, const std::set<std::string>& wanted) {
  return Reader(side, wanted).read();
}

Error no_metric(const std::string& name, std::span<const Side> runs) {
  std::set<std::string> known;
  for (const Side& run : runs)
    for (const auto& [metric, values] : measured_run(run, {}).metrics)
      known.insert(metric);
  return Error(fmt::format("no run has a metric '{}'", name),
               known.empty()
                   ? "none has a workpackage that is done"
                   : suggestion(name, std::vector(known.begin(), known.end()), "known: "));
}

bool convert(Metric& metric, const std::string& unit) {
  if (metric.unit == unit)
    return true;
  const auto factor = unit::conversion_factor(metric.unit, unit);
  if (!factor)
    return false;
  metric.unit = unit;
  for (auto& [workpackage, value] : metric.values)
    value *= *factor;
  return true;
}

std::optional<Better> better_of(const model::Benchmark& benchmark, const std::string& metric,
                                const std::string& unit) {
  const std::string base(statistics::without_suffix(metric));
  for (const std::string& name : {metric, base}) {
    for (const model::Result& result : benchmark.results)
      for (const model::Table& table : result.tables)
        for (const model::Column& column : table.columns)
          if (column.better &&
              (column.name == name || statistics::without_suffix(column.name) == name))
            return column.better;
    for (const model::PatternSet& set : benchmark.pattern_sets)
      for (const model::Pattern& pattern : set.patterns)
        if (pattern.better && pattern.name == name)
          return pattern.better;
  }
  if (is_time(unit) || unit::conversion_factor(unit, "J"))
    return Better::lower;
  return is_rate(unit) ? std::optional(Better::higher) : std::nullopt;
}

bool is_about_speed(const std::string& unit) {
  return is_time(unit) || is_rate(unit);
}

}  // namespace bench::inspect
