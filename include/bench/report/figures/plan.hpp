#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/report/figures/figure.hpp>
#include <bench/report/figures/source.hpp>

namespace bench::report {

enum class Mark { line, bar, heatmap, point, stack, step };

/// How an axis is divided; `automatic`: by powers where the values are powers. That of values
/// begins at zero, so that a small difference looks small; with `fit` it spans them.
enum class Scale { automatic, linear, log, fit };

/// What a value would be if nothing were lost.
enum class Ideal {
  none,
  proportional,  ///< To x, through 1 at the smallest.
  constant,      ///< 1, or 100 %.
  equal          ///< To x.
};

/// What a figure shows of a source: positions of columns.
struct Plan {
  Mark mark = Mark::line;
  std::size_t x = 0;
  std::vector<std::size_t> y;      ///< A panel each; of a stack its parts.
  std::vector<std::size_t> color;  ///< A line or bar for each combination of their values.
  std::optional<std::size_t> row;  ///< The other axis of a heatmap.
  std::optional<std::size_t> facet;
  Scale x_scale = Scale::automatic;
  Scale y_scale = Scale::automatic;
  Ideal ideal = Ideal::none;
  std::optional<std::size_t> total;  ///< Of a stack: what its parts are parts of.
  std::string title;                 ///< Empty: made of the columns.
};

/// The figures that say most about a table, chosen by what its columns are. Pure.
///
/// - Speed-up and efficiency over what they are calculated for, with the ideal.
/// - Times that are parts of a total: stacked bars.
/// - A distribution function: steps.
/// - Throughput and energy over one parameter: two panels.
/// - Any other value: lines over a numeric parameter, bars over a named one, and a heatmap over two
///   where both have three values or something failed.
///
/// A parameter that others determine counts with them. Of parameters that find no place, the rows
/// are taken together: their median, with its interval.
std::vector<Plan> default_plans(const Source& source);

/// What a `figure` of the benchmark asks for. Columns are called by title or name.
/// @throws Error with its place if the table has no such column
Plan asked_plan(const Source& source, const model::Figure& asked);

/// Draws a plan.
Figure draw(const Source& source, const Plan& plan);

/// At most `most` points of those that lie on one line, ascending by x: of each section of it the
/// lowest and the highest, so that no peak is lost.
/// @param height of a point
std::vector<std::size_t> thinned(const std::vector<double>& height, std::size_t most);

/// `text` in lower case with `-` for all but letters and digits, not empty.
std::string slug_of(const std::string& text);

/// Appends a number to ids that occur twice.
void make_ids_unique(std::vector<Figure>& figures);

}  // namespace bench::report
