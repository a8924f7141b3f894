#include "grid.hpp"

#include "spread_text.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/results/format.hpp>
#include <bench/results/table.hpp>

namespace bench::result {
namespace {

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

}  // namespace bench::result
