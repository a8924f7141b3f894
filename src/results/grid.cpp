#include "grid.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/results/format.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

bool is_of_integers(const std::string& format) {
  return !format.empty() && std::string_view("bcdoxX").find(format.back()) != std::string::npos;
}

/// A number and a distance from it, which is above 0. Two digits of the distance where the first is
/// 1 or 2, which are rounded most, else one.
std::string rounded(double number, double distance) {
  constexpr int most_decimals = 6;
  constexpr int most_digits = 16;  // as many as Python's str writes without an exponent
  const int exponent = static_cast<int>(std::floor(std::log10(distance)));
  const int digits = distance / std::pow(10, exponent) < 3 ? 2 : 1;
  const int decimals = std::max(0, digits - 1 - exponent);
  const int of_number =
      number == 0 ? exponent : static_cast<int>(std::floor(std::log10(std::fabs(number))));
  if (decimals <= most_decimals && std::max(of_number, exponent) < most_digits)
    return fmt::format("{:.{}f} ± {:.{}f}", number, decimals, distance, decimals);
  return fmt::format("{:.{}e} ± {:.{}e}", number, std::max(0, of_number - exponent + digits - 1),
                     distance, digits - 1);
}

/// `41.2 ± 0.3`, with a `*` behind it where there is an outlier: the median, and how far the
/// farther end of its confidence interval is. In the format of the column, or without one, or with
/// one of integers, to the last one or two digits that this distance has.
std::string spread_text(const Cell& cell, const Heading& heading) {
  const Spread& spread = *cell.spread;
  const double distance = std::max(spread.high - spread.median, spread.median - spread.low);
  const bool is_exact = distance == 0;  // nearly all values are the same
  const std::string text =
      is_exact ? std::string(strip(value_text(cell, heading, Iterations::spread)))
      : cell.format.empty() || is_of_integers(cell.format)
          ? rounded(spread.median, distance)
          : fmt::format("{} ± {}", strip(format_value(spread.median, cell.format, heading.place)),
                        strip(format_value(distance, cell.format, heading.place)));
  return spread.outliers.empty() ? text : text + " *";
}

std::string cell_text(const Cell& cell, const Heading& heading, Iterations iterations,
                      bool heading_says_estimated) {
  std::string text = cell.spread && iterations == Iterations::spread
                         ? spread_text(cell, heading)
                         : value_text(cell, heading, iterations);
  return cell.estimated && !heading_says_estimated ? text + " (estimated)" : text;
}

std::string heading_text(const Heading& heading, bool estimated) {
  return heading.title + (heading.unit.empty() ? "" : fmt::format("[{}]", heading.unit)) +
         (estimated ? " (estimated)" : "");
}

using Row = std::vector<std::string>;

/// One row of as many lines as its highest cell; only the first line of a cell is aligned to the
/// right.
std::string bordered_row(const Row& row, const std::vector<std::size_t>& widths) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (const std::string& cell : row)
    height = std::max(height, cells.emplace_back(split(cell, "\n")).size());
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    text += "|";
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string piece = line < cells[column].size() ? cells[column][line] : "";
      text += " ";
      text += line == 0 ? to_the_right(piece, widths[column]) : to_the_left(piece, widths[column]);
      text += " |";
    }
    text += "\n";
  }
  return text;
}

/// The line below the headings. `end` closes each column's dashes.
std::string rule(const std::vector<std::size_t>& widths, char end) {
  std::string text = "|";
  for (const std::size_t width : widths) {
    text += std::string(width + 1, '-') + end;
    text += "|";
  }
  return text + "\n";
}

}  // namespace

std::string value_text(const Cell& cell, const Heading& heading, Iterations iterations) {
  const auto* real = std::get_if<double>(&*cell.value);
  if (iterations == Iterations::spread && cell.is_calculated && cell.format.empty() && real)
    if (std::string text = short_text(*real); parse_number(text) != *real)
      return text;
  return format_value(*cell.value, cell.format, heading.place);
}

bool is_of_numbers(const Table& table, std::size_t column) {
  return std::ranges::all_of(table.rows, [&](const std::vector<Cell>& row) {
    return !row[column].value || row[column].is_wide_integer ||
           !std::holds_alternative<std::string>(*row[column].value);
  });
}

bool estimated_throughout(const Table& table, std::size_t column) {
  bool any = false;
  for (const auto& row : table.rows) {
    if (row[column].value && !row[column].estimated)
      return false;
    any = any || row[column].value;
  }
  return any;
}

Grid grid_of(const Table& table, const std::string& missing, Iterations iterations) {
  Grid grid;
  grid.rows.resize(table.rows.size() + 1);
  for (auto& row : grid.rows)
    row.reserve(table.headings.size());
  for (std::size_t column = 0; column < table.headings.size(); ++column) {
    const Heading& heading = table.headings[column];
    const bool estimated = estimated_throughout(table, column);
    grid.rows[0].push_back(heading_text(heading, estimated));
    grid.minimum_widths.push_back(static_cast<std::size_t>(std::max(heading.minimum_width, 0)));
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const Cell& cell = table.rows[row][column];
      grid.rows[row + 1].push_back(cell.value ? cell_text(cell, heading, iterations, estimated)
                                              : missing);
    }
  }
  return grid;
}

Grid transposed(const Grid& grid) {
  Grid turned;
  turned.rows.resize(grid.rows.front().size());
  for (const auto& row : grid.rows)
    for (std::size_t column = 0; column < row.size(); ++column)
      turned.rows[column].push_back(row[column]);
  return turned;
}

Grid oriented_grid(const Table& table, const std::string& missing, Iterations iterations) {
  Grid grid = grid_of(table, missing, iterations);
  return table.transpose ? transposed(grid) : grid;
}

void drop_final_newlines(Grid& grid) {
  for (Row& row : grid.rows)
    for (std::string& cell : row)
      while (cell.ends_with('\n'))
        cell.pop_back();
}

void replace_in_cells(Grid& grid, std::string_view from, std::string_view to) {
  for (Row& row : grid.rows)
    for (std::string& cell : row)
      cell = replace_all(std::move(cell), from, to);
}

std::vector<std::size_t> widths_of(const Grid& grid) {
  std::vector<std::size_t> widths = grid.minimum_widths;
  widths.resize(grid.rows.front().size());
  for (const Row& row : grid.rows)
    for (std::size_t column = 0; column < row.size(); ++column)
      for (const std::string& line : split(row[column], "\n"))
        widths[column] = std::max(widths[column], display_width(line));
  return widths;
}

std::string to_the_right(const std::string& text, std::size_t width) {
  const std::size_t taken = display_width(text);
  return std::string(width > taken ? width - taken : 0, ' ') + text;
}

std::string to_the_left(const std::string& text, std::size_t width) {
  const std::size_t taken = display_width(text);
  return text + std::string(width > taken ? width - taken : 0, ' ');
}

std::string joined_rows(const Grid& grid, const std::string& separator) {
  std::string text;
  for (const Row& row : grid.rows)
    text += join(row, separator) + "\n";
  return text;
}

std::string bordered(const Grid& grid, bool with_rule, char rule_end) {
  const auto widths = widths_of(grid);
  std::string text;
  for (const Row& row : grid.rows) {
    text += bordered_row(row, widths);
    if (with_rule && &row == &grid.rows.front())
      text += rule(widths, rule_end);
  }
  return text;
}

}  // namespace bench::results
