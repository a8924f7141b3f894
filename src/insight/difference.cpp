#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/base/unit.hpp>
#include <bench/base/value.hpp>
#include <bench/insight/conditions.hpp>
#include <bench/insight/difference.hpp>
#include <bench/insight/match.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/row_values.hpp>
#include <bench/space/run.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::insight {
namespace {

using workspace::Finding;
using workspace::Workpackage;

/// What is compared: columns of results, and patterns that none of them is made of.
std::set<std::string> metric_names(const space::Run& a, const space::Run& b) {
  std::set<std::string> shown;
  for (const space::Run* run : {&a, &b})
    for (const model::Result& result : run->benchmark.results)
      for (const model::Column* column : model::columns_of(result))
        shown.insert(column->name);
  std::set<std::string> names = shown;
  for (const space::Run* run : {&a, &b})
    for (const model::PatternSet& set : run->benchmark.pattern_sets)
      for (const model::Pattern& pattern : set.patterns) {
        const auto next = shown.lower_bound(pattern.name);
        if (next == shown.end() ||
            (*next != pattern.name && !next->starts_with(pattern.name + "_")))
          names.insert(pattern.name);
      }
  return names;
}

/// Values of rows by workpackage, then by analyser and name, in order.
using Found = std::unordered_map<long long, std::map<std::pair<std::string, std::string>, Finding>>;

/// Findings of an analyser, at least under these names.
std::vector<Finding> findings_by(const Side& side, const std::string& analyser,
                                 const std::set<std::string>& names) {
  std::vector<Finding> all = side.workspace.findings(analyser, names);
  if (const auto known = side.analyses.find(analyser); known != side.analyses.end())
    all.insert(all.begin(), known->second.begin(), known->second.end());
  return all;
}

Found findings_of(const Side& side, const std::vector<Workpackage>& all,
                  const std::set<std::string>& names) {
  std::set<std::string> names_of_each = names;
  for (const std::string& name : names)
    names_of_each.insert(name + "_cnt");
  const space::Lineage family(all);
  Found found;
  for (const model::Analyser& analyser : side.run.benchmark.analysers) {
    results::Analyses of_each;
    const std::string each = results::name_of_each(analyser.name);
    if (auto findings = findings_by(side, each, names_of_each); !findings.empty())
      of_each.emplace(each, std::move(findings));
    const results::RowValues values(side.run.benchmark, family, analyser, of_each);
    for (Finding& finding : findings_by(side, analyser.name, names)) {
      const auto position = family.position(finding.workpackage);
      if (!position || !names.contains(finding.name))
        continue;
      finding.value = values.cell(finding, family.representative(*position)).value;
      const long long workpackage = finding.workpackage;
      found[workpackage].try_emplace({analyser.name, finding.name}, std::move(finding));
    }
  }
  return found;
}

std::optional<double> number_in(const std::optional<Value>& value) {
  return value ? numbers::number_of(*value) : std::nullopt;
}

/// @returns whether they differ by more than the tolerance
bool compare_values(MetricDifference& metric, double tolerance) {
  const auto a = number_in(metric.a);
  const auto b = number_in(metric.b);
  if (!a || !b)
    return metric.a.has_value() != metric.b.has_value() ||
           (metric.a && to_text(*metric.a) != to_text(*metric.b));
  if (std::isnan(*a) || std::isnan(*b))
    return std::isnan(*a) != std::isnan(*b);
  metric.difference = *a == *b ? 0 : *b - *a;
  if (*a != 0 && std::isfinite(*a))
    metric.relative = *metric.difference / std::fabs(*a);
  return *metric.difference != 0 && !(std::fabs(metric.relative.value_or(INFINITY)) <= tolerance);
}

/// The value in another unit, as it is where that measures something else.
std::optional<Value> in_unit(const Finding& finding, const std::string& unit) {
  const auto number = number_in(finding.value);
  const auto factor = unit::conversion_factor(finding.unit, unit);
  if (number && factor && *factor != 1)
    return *number * *factor;
  return finding.value;
}

class Comparison {
 public:
  Comparison(const Side& a, const Side& b, double tolerance)
      : a_(a), b_(b), tolerance_(tolerance), names_(metric_names(a.run, b.run)) {}

  Differences compare() {
    result_.provenance = fact_differences(a_.run.metadata, b_.run.metadata);
    all_a_ = a_.workspace.workpackages();
    all_b_ = b_.workspace.workpackages();
    found_a_ = findings_of(a_, all_a_, names_);
    found_b_ = findings_of(b_, all_b_, names_);
    std::vector<std::string> steps;
    for (const space::Run* run : {&a_.run, &b_.run})
      for (const model::Step& step : run->benchmark.steps)
        if (std::ranges::find(steps, step.name) == steps.end())
          steps.push_back(step.name);
    for (const std::string& step : steps)
      compare_step(step);
    summarise();
    // How much a metric scatters differs most of all, and says least.
    std::ranges::stable_sort(result_.metrics, std::ranges::greater{}, [](const auto& metric) {
      return std::pair(!metric.name.ends_with("_std"),
                       metric.relative ? std::fabs(*metric.relative) : INFINITY);
    });
    return std::move(result_);
  }

 private:
  static Members members_of(const std::vector<Workpackage>& all, const std::string& step) {
    Members members;
    for (const Workpackage& workpackage : all)
      if (workpackage.step == step)
        members.push_back(&workpackage);
    return members;
  }

  static const Workpackage& at(const std::vector<Workpackage>& all, long long id) {
    return *std::ranges::lower_bound(all, id, {}, &Workpackage::id);
  }

  static std::string state_text(const Workpackage& workpackage) {
    const std::string state(workspace::name_of(workpackage.state));
    return workpackage.reason.empty() ? state : state + ": " + workpackage.reason;
  }

  void compare_step(const std::string& step) {
    Matching matching = match(step, members_of(all_a_, step), members_of(all_b_, step));
    for (const Pair& pair : matching.pairs) {
      const Workpackage& a = at(all_a_, pair.a);
      const Workpackage& b = at(all_b_, pair.b);
      if (a.state != b.state)
        result_.states.push_back({pair, state_text(a), state_text(b)});
      compare_metrics(pair);
    }
    result_.pairs += matching.pairs.size();
    std::ranges::move(matching.parameters, std::back_inserter(result_.parameters));
    std::ranges::move(matching.lone, std::back_inserter(result_.points));
  }

  void compare_metrics(const Pair& pair) {
    static const Found::mapped_type nothing;
    const auto in_a = found_a_.find(pair.a);
    const auto in_b = found_b_.find(pair.b);
    const auto& of_a = in_a == found_a_.end() ? nothing : in_a->second;
    const auto& of_b = in_b == found_b_.end() ? nothing : in_b->second;
    std::set<std::pair<std::string, std::string>> keys;
    for (const auto* side : {&of_a, &of_b})
      for (const auto& [key, finding] : *side)
        keys.insert(key);
    for (const auto& key : keys) {
      const auto a = of_a.find(key);
      const auto b = of_b.find(key);
      MetricDifference metric{.pair = pair, .name = key.second};
      if (a != of_a.end()) {
        metric.a = a->second.value;
        metric.unit = a->second.unit;
      }
      if (b != of_b.end()) {
        metric.b = b->second.value;
        if (a != of_a.end())
          metric.a = in_unit(a->second, b->second.unit);
        metric.unit = b->second.unit;
      }
      const bool differs = compare_values(metric, tolerance_);
      Sum& sum = sums_[metric.name];
      ++sum.summary.pairs;
      sum.summary.different += differs ? 1 : 0;
      sum.summary.unit = metric.unit;
      if (metric.relative)
        sum.relatives.push_back(*metric.relative);
      if (differs)
        result_.metrics.push_back(std::move(metric));
    }
  }

  void summarise() {
    for (auto& [name, sum] : sums_) {
      sum.summary.name = name;
      std::ranges::sort(sum.relatives);
      if (const std::size_t count = sum.relatives.size(); count > 0) {
        sum.summary.least = sum.relatives.front();
        sum.summary.most = sum.relatives.back();
        sum.summary.median = (sum.relatives[(count - 1) / 2] + sum.relatives[count / 2]) / 2;
      }
      result_.summaries.push_back(std::move(sum.summary));
    }
  }

  struct Sum {
    MetricSummary summary;
    std::vector<double> relatives;
  };

  const Side& a_;
  const Side& b_;
  double tolerance_;
  std::set<std::string> names_;
  std::vector<Workpackage> all_a_;
  std::vector<Workpackage> all_b_;
  Found found_a_;
  Found found_b_;
  std::map<std::string, Sum> sums_;
  Differences result_;
};

}  // namespace

Differences differences(const Side& a, const Side& b, double tolerance) {
  return Comparison(a, b, tolerance).compare();
}

}  // namespace bench::insight
