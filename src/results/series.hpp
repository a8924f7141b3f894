#pragma once

#include <compare>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <bench/base/value.hpp>
#include <bench/results/analyses.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::statistics {
struct Statistic;
}

namespace bench::tabulate {

/// What was found under one name, at most once at each workpackage.
struct Series {
  std::string name;
  std::string unit;
  /// How many series of this name and unit, which contradict this one, came before it.
  std::size_t rank = 0;
  std::vector<const workspace::Finding*> found;  ///< Ascending by workpackage.

  bool is_of_meter = false;
  ValueType type = ValueType::string;
  std::string base;                                  ///< Of a statistic: the name that it is of.
  const statistics::Statistic* statistic = nullptr;  ///< Of a statistic.
};

/// Series of a run: those of patterns as its pattern sets define them, each with its statistics,
/// then those of the meter by name. Where two analysers found the same, or one of them nothing,
/// they are one series.
/// @param analyses must outlive the series
std::vector<Series> series_of(const setup::Run& run, const Analyses& analyses);

/// The names that any workpackage has several values of.
std::set<std::string> repeated_names(const std::vector<Series>& all);

}  // namespace bench::tabulate
