#include "grid.hpp"
#include "writer.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/results/table.hpp>

namespace bench::result {
namespace {

std::string lines(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes)
    text += note + "\n";
  return text;
}

std::string write_pretty(const Table& table, const std::vector<std::string>& notes) {
  Grid grid = oriented_grid(table, not_available, Iterations::spread);
  drop_final_newlines(grid);
  return fmt::format("{}:\n{}{}", table.name, bordered(grid, !table.transpose, '-'), lines(notes));
}

}  // namespace

const Writer pretty_writer{{.name = "pretty", .may_be_vertical = true, .shows_spreads = true},
                           write_pretty};

std::size_t pretty_width(const Table& table) {
  Grid grid = oriented_grid(table, not_available, Iterations::spread);
  drop_final_newlines(grid);
  std::size_t width = 1;
  for (const std::size_t column : widths_of(grid))
    width += column + 3;
  return width;
}

std::string render_vertical(const Table& table) {
  Grid grid = grid_of(table, not_available, Iterations::spread);
  drop_final_newlines(grid);
  std::size_t widest = 0;
  for (const std::string& heading : grid.rows.front())
    widest = std::max(widest, display_width(heading));
  std::string text;
  for (std::size_t row = 1; row < grid.rows.size(); ++row) {
    text += fmt::format("{}{}row {} of {}:\n", table.name, table.name.empty() ? "" : ", ", row,
                        table.rows.size());
    for (std::size_t column = 0; column < table.headings.size(); ++column)
      text += fmt::format(
          "  {} | {}\n", to_the_left(grid.rows.front()[column], widest),
          replace_all(grid.rows[row][column], "\n", "\n  " + std::string(widest, ' ') + " | "));
  }
  return text + lines(notes_of(table)) + lines(notes_of_spreads(table));
}

}  // namespace bench::result
