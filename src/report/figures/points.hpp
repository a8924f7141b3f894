#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <bench/report/figures/plan.hpp>
#include <bench/report/figures/source.hpp>

namespace bench::report {

/// What a figure shows of one column at one point.
struct Shown {
  std::optional<double> value;  ///< The median of several rows.
  std::optional<double> low;    ///< Of the 95 % interval of the median.
  std::optional<double> high;
};

/// The rows of a source that have the same place in a figure.
struct Point {
  std::size_t row = 0;  ///< The first of them.
  std::string color;    ///< Combined text; empty without colours.
  std::vector<Shown> y;
  RowState state = RowState::done;  ///< Not done only where nothing is.
  std::size_t done = 0;             ///< Workpackages that are.
  std::size_t failed = 0;           ///< Those that failed or were skipped.
  std::string reason;

  /// Its values are those of a part of what was to be measured.
  bool is_partial() const { return state == RowState::done && failed > 0; }
};

/// What stands in a cell for how a point ended: `OOM`.
const char* short_name(RowState state);

/// The points of a plan, ordered by x, row, colour and facet.
std::vector<Point> points_of(const Source& source, const Plan& plan);

}  // namespace bench::report
