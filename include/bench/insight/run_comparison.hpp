#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <bench/insight/difference.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/comparison.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {

/// What is on one side of a comparison: all workpackages of some runs, or those with one value of a
/// parameter.
struct ComparedSide {
  std::vector<Side> runs;  ///< With what was found at each workpackage.
  std::optional<std::pair<std::string, std::string>> parameter = {};
};

/// `faster` or `slower` of times and rates, `better` or `worse` of other metrics with a direction,
/// `higher` or `lower` without one; `equal`, `no evidence`, `too few runs`, `not finite`.
std::string word_of(numbers::Word word, std::optional<model::Better> better,
                    const std::string& unit);

/// One metric at one point.
struct ComparedPoint {
  std::string step;
  workspace::Parameters parameters;
  std::string metric;
  std::string unit;
  bool estimated = false;  ///< Some values come from a model.
  /// The column that shows these values: called like the metric, or like a statistic of it.
  std::string shown;
  bool is_statistic = false;  ///< Statistics of several values rather than medians.
  double shown_a = 0;         ///< The value of the row; the median of several rows.
  double shown_b = 0;
  /// Workpackages of each side that are done and have no value.
  std::size_t without_value_a = 0;
  std::size_t without_value_b = 0;
  std::optional<model::Better> better;
  numbers::Comparison comparison;
  numbers::Verdict verdict;

  std::string word() const { return word_of(verdict.word, better, unit); }
  /// Values of `b` are nan or infinite, and none of `a` is.
  bool has_diverged() const;
  /// Workpackages of `b` that are done lack a value, and none of `a` does.
  bool has_lost_values() const;
  /// Worse, or diverged: that is worse whichever values are better.
  bool is_regression() const;
};

/// A metric that only one side has, at no point of which it can be compared.
struct LoneMetric {
  std::string name;
  bool in_a = false;
  std::optional<model::Better> better;
};

struct RunComparison {
  /// What else may have changed the numbers; see `condition_differences`.
  std::vector<TextDifference> conditions;
  std::vector<ComparedPoint> points;       ///< In order of steps and workpackages, then of metrics.
  std::vector<TextDifference> parameters;  ///< By which points are not told apart.
  std::vector<TextDifference> units;       ///< Of metrics that cannot be compared for their units.
  std::vector<LonePoint> lone;             ///< Points that only one side has.
  std::vector<LoneMetric> lone_metrics;    ///< None where a side has no workpackage that is done.
  /// Workpackages that failed or are unfinished, and do not count. Those that were skipped do
  /// neither.
  std::size_t not_done_a = 0;
  std::size_t not_done_b = 0;
  /// How many workpackages of each side count although the meter doubts their values, by what it
  /// says of them: `too short`, `not quiet`.
  std::map<std::string, std::size_t> doubted_a;
  std::map<std::string, std::size_t> doubted_b;
};

struct ComparisonOptions {
  double margin = 0.01;           ///< The smallest relative change that matters.
  std::set<std::string> metrics;  ///< Empty: all.
  std::set<std::string> across;   ///< Parameters that do not tell points apart.
};

/// Compares the values of every metric that both sides have, at every point that both have. Points
/// are matched as by `differences`; the iterations of all runs of a side are its values.
/// @throws Error if a side has no workpackage with the value of its parameter, or no run has a
///         metric that is wanted
RunComparison compare_runs(const ComparedSide& a, const ComparedSide& b,
                           const ComparisonOptions& options);

}  // namespace bench::insight
