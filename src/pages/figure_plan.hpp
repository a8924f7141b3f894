#pragma once

#include "figure_source.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/pages/figure.hpp>

namespace bench::pages {

enum class Mark { line, bar, heatmap, point, stack, step };

/// Scale of an axis; `automatic`: logarithmic if the values are powers. A value axis begins at
/// zero, so that a small difference looks small; with `fit` it spans the values.
enum class Scale { automatic, linear, log, fit };

/// The ideal course of a value.
enum class Ideal {
  none,
  proportional,  ///< To x, through 1 at the baseline.
  constant,      ///< 1, or 100 %.
  equal          ///< To x.
};

/// What a figure shows of a source, as column indices.
struct Plan {
  Mark mark = Mark::line;
  std::size_t x = 0;
  std::vector<std::size_t> y;      ///< One panel each; the parts of a stack.
  std::vector<std::size_t> color;  ///< A line or bar for each combination of their values.
  std::optional<std::size_t> row;  ///< The other axis of a heatmap.
  std::vector<std::size_t> facet;  ///< A panel for each combination of their values.
  Scale x_scale = Scale::automatic;
  Scale y_scale = Scale::automatic;
  Ideal ideal = Ideal::none;
  std::optional<std::size_t> total;  ///< Of a stack: the total of its parts.
  std::string title;                 ///< Empty: generated from the columns.

  /// The columns whose values distinguish points: x, row, colours, facets.
  std::vector<std::size_t> keys() const;
};

/// The parameters that the plan does not place, so that rows of different values are one point.
std::vector<std::size_t> hidden_parameters(const Source& source, const Plan& plan);

/// Chooses the most informative figures of a table by the kinds of its columns. Pure.
///
/// - Speed-up and efficiency over the parameter that they are calculated for, with the ideal.
/// - Times that are parts of a total: stacked bars.
/// - Distribution functions: step plots.
/// - Throughput and energy over one parameter: two panels.
/// - Any other value: lines over a numeric parameter, bars over a named one, and a heatmap over two
///   where both have three values or something failed.
///
/// A parameter determined by others is ignored. Those that find no other place become facets. Rows
/// that differ only in parameters for which there are too many panels are combined: their median,
/// without an interval.
std::vector<Plan> default_plans(const Source& source);

/// The plan of a `figure` of the benchmark. Columns are named by title or name. Parameters that it
/// does not place become facets.
/// @throws Error with its place if the table has no such column, or there were too many panels
Plan asked_plan(const Source& source, const model::Figure& asked);

/// Draws a plan.
Figure draw(const Source& source, const Plan& plan);

/// `text` in lower case with `-` for everything but letters and digits; never empty.
std::string slug_of(const std::string& text);

/// Appends a number to ids that occur twice.
void make_ids_unique(std::vector<Figure>& figures);

}  // namespace bench::pages
