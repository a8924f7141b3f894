#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/value.hpp>
#include <bench/insight/conditions.hpp>
#include <bench/insight/match.hpp>

namespace bench::insight {

struct StateDifference {
  Pair pair;
  std::string a;  ///< The state, and the reason of a failure.
  std::string b;
};

struct MetricDifference {
  Pair pair;
  std::string name;
  std::string unit;
  std::optional<Value> a;  ///< None: absent.
  std::optional<Value> b;
  std::optional<double> difference;  ///< Of numbers: b - a.
  std::optional<double> relative;    ///< Of numbers: (b - a) / |a|, unless a is 0.
};

/// How a metric differs over all pairs of workpackages.
struct MetricSummary {
  std::string name;
  std::string unit;
  std::size_t pairs = 0;
  std::size_t different = 0;
  /// Of the relative differences of all pairs that have one, equal ones included.
  std::optional<double> least;
  std::optional<double> median;
  std::optional<double> most;
};

struct Differences {
  std::vector<TextDifference> provenance;
  /// Parameters that one run lacks, and those that have no value in common and that nothing is told
  /// apart by within a run: they are left out where points are matched.
  std::vector<TextDifference> parameters;
  std::vector<LonePoint> points;
  std::vector<StateDifference> states;
  std::vector<MetricDifference> metrics;  ///< The largest first; what has no number before them.
  std::vector<MetricSummary> summaries;   ///< In order of their names.
  std::size_t pairs = 0;                  ///< Of workpackages.

  /// Whether anything but the provenance differs.
  bool any() const {
    return !parameters.empty() || !points.empty() || !states.empty() || !metrics.empty();
  }
};

/// Compares two runs. Workpackages are matched by step, values of parameters and iteration, never
/// by number. Metrics are what the tables of either run show and, of patterns that no table shows,
/// their first values.
/// @param tolerance relative differences up to this are none
Differences differences(const Side& a, const Side& b, double tolerance);

}  // namespace bench::insight
