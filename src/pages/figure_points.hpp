#pragma once

#include "figure_plan.hpp"
#include "figure_source.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bench::pages {

/// The value of one column at one point.
struct Shown {
  std::optional<double> value;  ///< The median of several rows; only done ones count.
  std::optional<double> low;    ///< Of the 95 % interval of the median, within the numbers.
  std::optional<double> high;
  std::vector<double> numbers = {};  ///< Behind the median, if there are several.
  bool is_baseline = false;          ///< Others are compared with it.
};

/// The rows of a source with the same position in a figure.
struct Point {
  std::size_t row = 0;  ///< The first of them.
  std::string color;    ///< Combined text; empty without colours.
  std::string facet;    ///< Combined text; empty without facets.
  std::vector<Shown> y;
  RowState state = RowState::done;  ///< Not done only if no row is done.
  std::size_t done = 0;             ///< Workpackages that are.
  std::size_t failed = 0;           ///< Those that failed or were skipped.
  std::string reason;

  /// Whether only a part of its workpackages is done.
  bool is_partial() const { return state == RowState::done && failed > 0; }
  std::string completed() const;  ///< `4 of 5`
};

/// The points of a plan, ordered by x, row, colour and facet.
std::vector<Point> points_of(const Source& source, const Plan& plan);

}  // namespace bench::pages
