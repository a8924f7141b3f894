#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <bench/insight/difference.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/change_points.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {

/// A run in the history of one metric at one point.
struct HistoryEntry {
  std::size_t run = 0;     ///< Its number among those that were given.
  std::size_t values = 0;  ///< Workpackages that are done.
  double value = 0;        ///< The value of their row; the median of several rows.
};

/// The series of one metric at one point, in order of the starts of the runs.
struct PointHistory {
  std::string step;
  workspace::Parameters parameters;
  std::string metric;
  std::string shown;  ///< The column that shows the values: like the metric, or a statistic of it.
  std::string unit;
  std::optional<model::Better> better;
  std::vector<HistoryEntry> entries;  ///< None where no value is finite.
  std::size_t not_finite = 0;         ///< How many values are nan or infinite, and do not count.
  numbers::Levels levels;
};

struct HistoryOptions {
  std::string metric;
  std::set<std::string> across;  ///< Parameters that do not tell points apart.
  double margin = 0.01;          ///< The smallest relative change that matters.
};

/// The histories of a metric over runs, a point each, in order of the workpackages. A metric whose
/// unit has become one of something else has two at a point.
/// @param runs with what was found at each workpackage
/// @throws Error if no run has the metric, or no workpackage a parameter of `across`
std::vector<PointHistory> history_of(std::span<const Side> runs, const HistoryOptions& options);

}  // namespace bench::insight
