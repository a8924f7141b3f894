#include "grid.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

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
