#include "metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
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
#include <bench/base/unit.hpp>
#include <bench/base/value.hpp>
#include <bench/energy/core/figures.hpp>
#include <bench/insight/difference.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/reals.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/row_values.hpp>
#include <bench/results/table.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::insight {
namespace {

using model::Better;
using workspace::Finding;
using workspace::Workpackage;

constexpr auto run_time = "run_time";

/// True for a mean or a quantile, false for a deviation or a count: it lies among its values.
bool is_of_their_size(const numbers::Statistic& statistic) {
  constexpr std::array<std::string_view, 6> others{"_std",     "_mad",   "_ci_low",
                                                   "_ci_high", "_elbow", "_ordered"};
  return statistic.has_unit && std::ranges::find(others, statistic.suffix) == others.end();
}

/// The names of columns and keys that are looked up, in order.
std::vector<std::string> shown_names(const model::Benchmark& benchmark) {
  std::vector<std::string> names;
  for (const model::Result& result : benchmark.results)
    for (const model::Column* column : model::columns_of(result))
      if (!column->calculation)
        names.push_back(column->name);
  return names;
}

class Reader {
 public:
  Reader(const Side& side, const std::set<std::string>& wanted, const model::Benchmark& shown_by)
      : side_(side),
        wanted_(wanted),
        shown_names_(shown_names(shown_by)),
        all_(side.workspace.workpackages()),
        family_(all_) {}

  MeasuredRun read() {
    read_workpackages();
    for (const auto& [analyser, findings] : side_.analyses)
      if (!side_.analyses.contains(results::name_of_each(analyser)))
        read_findings(findings);
    for (const model::Analyser& analyser : side_.run.benchmark.analysers)
      read_rows(analyser);
    if (wanted_.empty())
      remove_copies_of_total();
    read_attempts();
    return std::move(run_);
  }

 private:
  /// Findings of one analyser by name and workpackage.
  using Found = std::map<std::string, std::unordered_map<long long, const Finding*>>;

  void read_workpackages() {
    std::unordered_map<long long, workspace::Parameters> of_first;
    for (Workpackage one : all_) {
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

  bool is_wanted(const std::string& name, const Found& found) const {
    if (!wanted_.empty())
      return wanted_.contains(name);
    const std::string base(numbers::without_suffix(name));
    const energy::Figure* const figure = energy::figure_of(base);
    return (base == name || !found.contains(base)) && !(figure && figure->is_about_measuring());
  }

  /// The column that shows a metric: its own name, or a statistic of it.
  std::string shown_name(const std::string& metric, const Found& found) const {
    if (std::ranges::find(shown_names_, metric) != shown_names_.end())
      return metric;
    for (const std::string& name : shown_names_)
      if (const auto* statistic = numbers::statistic_of(name);
          statistic && is_of_their_size(*statistic) && numbers::without_suffix(name) == metric)
        return name;
    return found.contains(metric + "_avg") ? metric + "_avg" : metric;
  }

  void read_findings(const std::vector<Finding>& findings) {
    Found found;
    for (const Finding& finding : findings) {
      found[finding.name].emplace(finding.workpackage, &finding);
      const energy::Figure* const figure = energy::figure_of(finding.name);
      if (figure && !figure->remark.empty() && finding.value && done_.contains(finding.workpackage))
        run_.doubted[std::string(figure->remark)].insert(finding.workpackage);
    }
    std::set<std::string> names = wanted_;
    for (const auto& [name, of_name] : found)
      names.insert(name);
    for (const std::string& name : names)
      if (is_wanted(name, found))
        read_metric(name, found);
  }

  void read_metric(const std::string& name, const Found& found) {
    const std::string shown = shown_name(name, found);
    const numbers::Statistic* const statistic = numbers::statistic_of(shown);
    const std::string base(numbers::without_suffix(shown));
    const bool is_statistic = statistic && found.contains(base);
    if (const auto values = found.find(shown); values != found.end())
      for (const auto& [workpackage, finding] : values->second)
        if (finding->value)
          add(name, *finding, *finding->value);
    if (is_statistic)
      add_of_one_value(name, base, *statistic, found);
    if (const auto metric = run_.metrics.find(name); metric != run_.metrics.end()) {
      metric->second.shown = shown;
      metric->second.is_statistic = is_statistic;
    }
  }

  void add_of_one_value(const std::string& name, const std::string& base,
                        const numbers::Statistic& statistic, const Found& found) {
    // The statistics of a single value are not kept.
    const auto counts = found.find(base + "_cnt");
    for (const auto& [workpackage, finding] : found.at(base)) {
      const bool is_single = counts == found.end() || !counts->second.contains(workpackage);
      if (const auto value = is_single && finding->value
                                 ? numbers::of_one_value(statistic, *finding->value)
                                 : std::nullopt)
        add(name, *finding, *value);
    }
  }

  void add(const std::string& name, const Finding& finding, const Value& value) {
    const auto number = numbers::number_of(value);
    if (!number || !done_.contains(finding.workpackage))
      return;
    Metric& metric = run_.metrics[name];
    if (metric.unit.empty())
      metric.unit = finding.unit;
    metric.estimated |= finding.estimated;
    metric.values.try_emplace(finding.workpackage, *number);
  }

  /// Reads the values of rows that combine iterations.
  void read_rows(const model::Analyser& analyser) {
    if (!analyser.reduce || !side_.analyses.contains(results::name_of_each(analyser.name)))
      return;
    std::map<std::string, std::vector<Metric*>> metrics;
    std::set<std::string> names;
    for (auto& [name, metric] : run_.metrics) {
      metrics[metric.shown].push_back(&metric);
      names.insert(metric.shown);
    }
    const results::RowValues values(side_.run.benchmark, family_, analyser, side_.analyses);
    const auto known = side_.analyses.find(analyser.name);
    const std::vector<Finding> found = known == side_.analyses.end()
                                           ? side_.workspace.findings(analyser.name, names)
                                           : known->second;
    for (const Finding& finding : found) {
      const auto position = family_.position(finding.workpackage);
      const auto of_name = metrics.find(finding.name);
      if (!position || of_name == metrics.end())
        continue;
      const results::Cell cell = values.cell(finding, family_.representative(*position));
      if (const auto number = cell.value ? numbers::number_of(*cell.value) : std::nullopt)
        for (Metric* metric : of_name->second)
          metric->rows.try_emplace(family_.at(*position).combination, *number);
    }
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
      const auto run_time_s = attempt.run_time_s();
      if (!is_time_wanted || !run_time_s)
        continue;
      Metric& metric = run_.metrics[run_time];
      metric.unit = "s";
      metric.shown = run_time;
      metric.values[attempt.workpackage] = *run_time_s;
    }
  }

  const Side& side_;
  const std::set<std::string>& wanted_;
  std::vector<std::string> shown_names_;
  std::vector<Workpackage> all_;
  space::Lineage family_;
  std::set<long long> done_;
  MeasuredRun run_;
};

/// A price or an emission, whatever it is of: `EUR/h`, `gCO2e/kWh`.
bool is_cost(std::string_view unit) {
  constexpr std::array<std::string_view, 6> words{"EUR", "USD", "CHF", "GBP", "$", "CO2"};
  return contains_any(unit.substr(0, unit.find('/')), words);
}

/// Costs, times and energies are better if lower, also per step or token (`ms/step`, `J/token`).
/// Anything else per time or energy is better if higher (`tokens/s`, `tokens/J`, `GFLOPS`). A
/// power, which is energy per time, tells nothing.
std::optional<Better> better_by(const std::string& text) {
  if (is_cost(text))
    return Better::lower;
  const unit::Unit unit(text);
  const int time = unit.power("s");
  const int energy = unit.power("J");
  if (time * energy < 0 || (time == 0 && energy == 0))
    return std::nullopt;
  return time + energy > 0 ? Better::lower : Better::higher;
}

}  // namespace

void PointValue::add(const Metric& metric, std::size_t run,
                     const workspace::Workpackage& workpackage, double value) {
  ++count_;
  const auto row = metric.rows.find(workpackage.combination);
  if (row == metric.rows.end())
    alone_.push_back(value);
  else
    rows_.try_emplace({run, row->first}, Row{row->second, {}})
        .first->second.values.push_back(value);
}

double PointValue::value() const {
  std::vector<double> all = alone_;
  // The median of a row is nan where a value of it is, also where that one does not count here.
  for (const auto& [key, row] : rows_)
    all.push_back(std::isfinite(row.shown) ? row.shown : numbers::median(row.values));
  return numbers::median(std::move(all));
}

MeasuredRun measured_run(const Side& side, const std::set<std::string>& wanted,
                         const model::Benchmark& shown_by) {
  return Reader(side, wanted, shown_by).read();
}

Error no_metric(const std::string& name, std::span<const Side> runs) {
  std::set<std::string> known;
  for (const Side& run : runs)
    for (const auto& [metric, values] : measured_run(run, {}, run.run.benchmark).metrics)
      known.insert(metric);
  return Error(Id::unknown_name, fmt::format("no run has a metric '{}'", name),
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
  for (auto* values : {&metric.values, &metric.rows})
    for (auto& [key, value] : *values)
      value *= *factor;
  return true;
}

std::optional<Better> better_of(const model::Benchmark& benchmark, const std::string& metric,
                                const std::string& unit) {
  const std::string base(numbers::without_suffix(metric));
  for (const std::string& name : {metric, base}) {
    for (const model::Result& result : benchmark.results)
      for (const model::Table& table : result.tables)
        for (const model::Column& column : table.columns)
          if (column.better &&
              (column.name == name || numbers::without_suffix(column.name) == name))
            return column.better;
    for (const model::PatternSet& set : benchmark.pattern_sets)
      for (const model::Pattern& pattern : set.patterns)
        if (pattern.better && pattern.name == name)
          return pattern.better;
  }
  const numbers::Statistic* const statistic = numbers::statistic_of(metric);
  if (statistic && (statistic->suffix == "_std" || statistic->suffix == "_mad"))
    return Better::lower;
  return better_by(unit);
}

bool is_about_speed(const std::string& text) {
  const unit::Unit unit(text);
  const bool is_alone = unit.is_convertible_to(unit::Unit("s"));
  return !is_cost(text) && unit.power("J") == 0 &&
         (unit.power("s") < 0 ||
          (unit.power("s") > 0 && (is_alone || text.find('/') != std::string::npos)));
}

}  // namespace bench::insight
