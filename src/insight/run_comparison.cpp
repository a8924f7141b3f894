#include "metrics.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/insight/conditions.hpp>
#include <bench/insight/difference.hpp>
#include <bench/insight/match.hpp>
#include <bench/insight/run_comparison.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/comparison.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {
namespace {

using model::Better;
using numbers::Sample;
using numbers::Word;
using workspace::Workpackage;

/// A workpackage, and the number of its run among those of its side.
struct Member {
  const Workpackage* workpackage;
  std::size_t run;
};

struct MetricKind {
  explicit MetricKind(const Metric& metric)
      : unit(metric.unit), shown(metric.shown), is_statistic(metric.is_statistic) {}
  std::string unit;
  std::string shown;
  bool is_statistic;
  bool estimated = false;
};
using MetricKinds = std::map<std::string, MetricKind>;  ///< By name.

/// What one side has measured.
class Measured {
 public:
  Measured(const ComparedSide& side, const std::set<std::string>& metrics,
           const model::Benchmark& shown_by)
      : side_(side) {
    for (const Side& run : side.runs) {
      runs_.push_back(measured_run(run, metrics, shown_by));
      if (side.parameter) {
        choose(runs_.back().done);
        choose(runs_.back().not_done);
      }
    }
  }

  bool is_empty() const {
    return std::ranges::all_of(runs_, [](const MeasuredRun& run) { return run.done.empty(); });
  }

  bool has(const std::string& metric) const {
    return std::ranges::any_of(
        runs_, [&](const MeasuredRun& run) { return run.metrics.contains(metric); });
  }

  std::size_t not_done() const {
    std::size_t sum = 0;
    for (const MeasuredRun& run : runs_)
      sum +=
          static_cast<std::size_t>(std::ranges::count_if(run.not_done, [](const Workpackage& one) {
            return one.state != workspace::State::skipped;
          }));
    return sum;
  }

  std::map<std::string, std::size_t> doubted() const {
    std::map<std::string, std::size_t> counts;
    for (const MeasuredRun& run : runs_)
      for (const auto& [doubt, ids] : run.doubted)
        counts[doubt] += static_cast<std::size_t>(std::ranges::count_if(
            run.done, [&](const Workpackage& one) { return ids.contains(one.id); }));
    return counts;
  }

  Members workpackages_of(const std::string& step) const {
    Members members;
    for (const MeasuredRun& run : runs_)
      for (const Workpackage& one : run.done)
        if (one.step == step)
          members.push_back(&one);
    return members;
  }

  std::unordered_map<std::string, std::vector<Member>> points_of(
      const std::string& step, const std::vector<std::string>& key) const {
    std::unordered_map<std::string, std::vector<Member>> points;
    for (std::size_t run = 0; run < runs_.size(); ++run)
      for (const Workpackage& one : runs_[run].done)
        if (one.step == step)
          points[key_text(one, key)].push_back({&one, run});
    return points;
  }

  /// @param point gets the values, too
  Sample sample(const std::vector<Member>& members, const std::string& metric,
                PointValue& point) const {
    Sample sample;
    for (const auto& [workpackage, number] : members) {
      const MeasuredRun& run = runs_[number];
      const auto values = run.metrics.find(metric);
      if (values == run.metrics.end())
        continue;
      const auto value = values->second.values.find(workpackage->id);
      if (value == values->second.values.end())
        continue;
      point.add(values->second, number, *workpackage, value->second);
      const auto start = run.starts_unix_s.find(workpackage->id);
      sample.push_back({.value = value->second,
                        .start_unix_s = start == run.starts_unix_s.end()
                                            ? std::numeric_limits<double>::quiet_NaN()
                                            : start->second,
                        .run = number});
    }
    return sample;
  }

  void add_metrics_to(MetricKinds& metrics) const {
    for (const MeasuredRun& run : runs_)
      for (const auto& [name, metric] : run.metrics)
        metrics.try_emplace(name, metric).first->second.estimated |= metric.estimated;
  }

  /// Converts all values to these units.
  /// @returns the metrics of which that is impossible, with their unit here
  std::map<std::string, std::string> convert_to(const MetricKinds& metrics) {
    std::map<std::string, std::string> others;
    for (MeasuredRun& run : runs_)
      for (auto& [name, metric] : run.metrics)
        if (!convert(metric, metrics.at(name).unit))
          others.try_emplace(name, metric.unit);
    return others;
  }

 private:
  void choose(std::vector<Workpackage>& workpackages) const {
    const auto& [name, wanted] = *side_.parameter;
    std::erase_if(workpackages, [&](const Workpackage& one) {
      const std::string* value = workspace::value_of(one.parameters, name);
      return !value || *value != wanted;
    });
  }

  const ComparedSide& side_;
  std::vector<MeasuredRun> runs_;
};

class Comparer {
 public:
  Comparer(const ComparedSide& a, const ComparedSide& b, const ComparisonOptions& options)
      : options_(options),
        side_a_(a),
        side_b_(b),
        a_(a, options.metrics, b.runs.back().run.benchmark),
        b_(b, options.metrics, b.runs.back().run.benchmark) {
    require_values(a, a_);
    require_values(b, b_);
    a_.add_metrics_to(metrics_);
    b_.add_metrics_to(metrics_);
    require(a, b, options.metrics);
    convert_units();
    if (!a_.is_empty() && !b_.is_empty())
      leave_out_lone_metrics();
  }

  RunComparison compare() {
    const model::Benchmark& benchmark = side_b_.runs.back().run.benchmark;
    for (const model::Step& step : benchmark.steps)
      compare_step(benchmark, step.name);
    std::vector<numbers::Comparison> comparisons;
    for (const ComparedPoint& point : made_.points)
      comparisons.push_back(point.comparison);
    const auto verdicts = numbers::decide(comparisons, options_.margin);
    for (std::size_t k = 0; k < verdicts.size(); ++k)
      made_.points[k].verdict = verdicts[k];
    made_.conditions = condition_differences(side_a_.runs, side_b_.runs);
    made_.not_done_a = a_.not_done();
    made_.not_done_b = b_.not_done();
    made_.doubted_a = a_.doubted();
    made_.doubted_b = b_.doubted();
    return std::move(made_);
  }

 private:
  static void require_values(const ComparedSide& side, const Measured& measured) {
    if (side.parameter && measured.is_empty())
      throw Error(Id::unknown_name,
                  fmt::format("no workpackage that is done has {}={}", side.parameter->first,
                              side.parameter->second),
                  "`bench info DIR -i last -s -p` shows the parameters");
  }

  void convert_units() {
    auto others = a_.convert_to(metrics_);
    others.merge(b_.convert_to(metrics_));
    for (const auto& [name, unit] : others) {
      made_.units.push_back({"", name, metrics_.at(name).unit, unit});
      metrics_.erase(name);
    }
  }

  void leave_out_lone_metrics() {
    const model::Benchmark& benchmark = side_b_.runs.back().run.benchmark;
    std::erase_if(metrics_, [&](const auto& metric) {
      const auto& [name, kind] = metric;
      if (a_.has(name) && b_.has(name))
        return false;
      made_.lone_metrics.push_back(
          {.name = name, .in_a = a_.has(name), .better = better_of(benchmark, name, kind.unit)});
      return true;
    });
  }

  void require(const ComparedSide& a, const ComparedSide& b,
               const std::set<std::string>& wanted) const {
    for (const std::string& name : wanted)
      if (!metrics_.contains(name)) {
        std::vector<Side> runs = a.runs;
        std::ranges::copy(b.runs, std::back_inserter(runs));
        throw no_metric(name, runs);
      }
  }

  void compare_step(const model::Benchmark& benchmark, const std::string& step) {
    const Members of_a = a_.workpackages_of(step);
    const Members of_b = b_.workpackages_of(step);
    PointKey key = point_key(step, of_a, of_b);
    std::erase_if(key.names,
                  [&](const std::string& name) { return options_.across.contains(name); });
    std::ranges::copy_if(key.left_out, std::back_inserter(made_.parameters),
                         [&](const TextDifference& one) {
                           return !side_b_.parameter || one.name != side_b_.parameter->first;
                         });
    const auto points_a = a_.points_of(step, key.names);
    const auto points_b = b_.points_of(step, key.names);
    std::set<std::string> seen;
    for (const Workpackage* one : of_a) {
      const std::string text = key_text(*one, key.names);
      if (!seen.insert(text).second)
        continue;
      if (const auto in_b = points_b.find(text); in_b == points_b.end())
        made_.lone.push_back({step, chosen(*one, key.names), true, points_a.at(text).size()});
      else
        compare_point(benchmark, step, chosen(*one, key.names), points_a.at(text), in_b->second);
    }
    for (const Workpackage* one : of_b)
      if (const std::string text = key_text(*one, key.names); seen.insert(text).second)
        made_.lone.push_back({step, chosen(*one, key.names), false, points_b.at(text).size()});
  }

  void compare_point(const model::Benchmark& benchmark, const std::string& step,
                     const workspace::Parameters& parameters, const std::vector<Member>& in_a,
                     const std::vector<Member>& in_b) {
    for (const auto& [name, kind] : metrics_) {
      PointValue value_a;
      PointValue value_b;
      const Sample a = a_.sample(in_a, name, value_a);
      const Sample b = b_.sample(in_b, name, value_b);
      if (a.empty() && b.empty())
        continue;
      numbers::Comparison comparison = numbers::compare(a, b);
      const double shown_a = a.empty() ? 0 : value_a.value();
      const double shown_b = b.empty() ? 0 : value_b.value();
      if (comparison.absent_reason.empty())
        comparison.shown_change = numbers::relative_change(shown_a, shown_b);
      made_.points.push_back({.step = step,
                              .parameters = parameters,
                              .metric = name,
                              .unit = kind.unit,
                              .estimated = kind.estimated,
                              .shown = kind.shown,
                              .is_statistic = kind.is_statistic,
                              .shown_a = shown_a,
                              .shown_b = shown_b,
                              .without_value_a = in_a.size() - a.size(),
                              .without_value_b = in_b.size() - b.size(),
                              .better = better_of(benchmark, name, kind.unit),
                              .comparison = std::move(comparison),
                              .verdict = {}});
    }
  }

  const ComparisonOptions& options_;
  const ComparedSide& side_a_;
  const ComparedSide& side_b_;
  Measured a_;
  Measured b_;
  MetricKinds metrics_;
  RunComparison made_;
};

}  // namespace

std::string word_of(Word word, std::optional<Better> better, const std::string& unit) {
  switch (word) {
    case Word::equal:
      return "equal";
    case Word::no_evidence:
      return "no evidence";
    case Word::too_few_runs:
      return "too few runs";
    case Word::not_finite:
      return "not finite";
    case Word::higher:
    case Word::lower:
      break;
  }
  const bool is_higher = word == Word::higher;
  if (!better)
    return is_higher ? "higher" : "lower";
  const bool is_improvement = is_higher == (*better == Better::higher);
  if (is_about_speed(unit))
    return is_improvement ? "faster" : "slower";
  return is_improvement ? "better" : "worse";
}

bool ComparedPoint::has_diverged() const {
  return verdict.word == Word::not_finite && comparison.not_finite_a == 0;
}

bool ComparedPoint::has_lost_values() const {
  return without_value_b > 0 && without_value_a == 0;
}

bool ComparedPoint::is_regression() const {
  if (has_diverged())
    return true;
  return better && verdict.word == (*better == Better::higher ? Word::lower : Word::higher);
}

RunComparison compare_runs(const ComparedSide& a, const ComparedSide& b,
                           const ComparisonOptions& options) {
  return Comparer(a, b, options).compare();
}

}  // namespace bench::insight
