#include "grid.hpp"
#include "json.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/result/table.hpp>

namespace bench::result {
namespace {

using Row = std::vector<std::string>;

constexpr std::array<std::pair<std::string_view, Style>, 5> styles{{{"csv", Style::csv},
                                                                    {"pretty", Style::pretty},
                                                                    {"aligned", Style::aligned},
                                                                    {"json", Style::json},
                                                                    {"markdown", Style::markdown}}};

std::string to_the_right(const std::string& text, std::size_t width) {
  const std::size_t taken = display_width(text);
  return std::string(width > taken ? width - taken : 0, ' ') + text;
}

std::string to_the_left(const std::string& text, std::size_t width) {
  const std::size_t taken = display_width(text);
  return text + std::string(width > taken ? width - taken : 0, ' ');
}

/// The widths of the columns: of the longest line in a cell, and at least the minimum.
std::vector<std::size_t> widths_of(const Grid& grid) {
  std::vector<std::size_t> widths = grid.minimum_widths;
  widths.resize(grid.rows.front().size());
  for (const Row& row : grid.rows)
    for (std::size_t column = 0; column < row.size(); ++column)
      for (const std::string& line : split(row[column], "\n"))
        widths[column] = std::max(widths[column], display_width(line));
  return widths;
}

void replace_in_cells(Grid& grid, std::string_view from, std::string_view to) {
  for (Row& row : grid.rows)
    for (std::string& cell : row)
      cell = replace_all(std::move(cell), from, to);
}

std::string joined_rows(const Grid& grid, const std::string& separator) {
  std::string text;
  for (const Row& row : grid.rows)
    text += join(row, separator) + "\n";
  return text;
}

std::string render_csv(Grid grid, const std::string& separator) {
  replace_in_cells(grid, "\n", " ");
  return joined_rows(grid, separator);
}

std::string render_aligned(Grid grid, const std::string& separator) {
  replace_in_cells(grid, "\n", " ");
  const auto widths = widths_of(grid);
  for (Row& row : grid.rows)
    for (std::size_t column = 0; column < row.size(); ++column)
      row[column] = to_the_right(row[column], widths[column]);
  return joined_rows(grid, separator);
}

/// One row of as many lines as its highest cell; only the first line of a cell stands to the right.
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

/// What Markdown would take for something else than text.
std::string markdown_text(std::string text) {
  for (const auto& [from, to] : {std::pair<std::string_view, std::string_view>{"|", "\\|"},
                                 {"*", "\\*"},
                                 {"`", "\\`"},
                                 {"<", "&lt;"},
                                 {"\n", "<br>"}})
    text = replace_all(std::move(text), from, to);
  return text;
}

std::string render_markdown(Grid grid, const Table& table) {
  for (Row& row : grid.rows)
    for (std::string& cell : row)
      cell = markdown_text(std::move(cell));
  std::string text =
      fmt::format("**{}**\n\n{}", markdown_text(table.name), bordered(grid, true, ':'));
  const auto notes = notes_of(table);
  if (!notes.empty())
    text += "\n";
  for (const std::string& note : notes)
    text += fmt::format("- {}\n", markdown_text(note));
  return text;
}

std::string lines(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes)
    text += note + "\n";
  return text;
}

}  // namespace

Style parse_style(const std::string& word) {
  std::vector<std::string> known;
  for (const auto& [name, style] : styles) {
    if (word == name)
      return style;
    known.emplace_back(name);
  }
  throw Error(fmt::format("unknown table style '{}'", word),
              suggestion(word, known, "the styles are "));
}

std::string render(const Table& table, Style style) {
  if (style == Style::json)
    return render_json(table);
  Grid grid = grid_of(table);
  if (table.transpose)
    grid = transposed(grid);
  switch (style) {
    case Style::csv:
      return render_csv(std::move(grid), table.separator);
    case Style::aligned:
      return render_aligned(std::move(grid), table.separator) + lines(notes_of(table));
    case Style::markdown:
      return render_markdown(std::move(grid), table);
    default:
      return fmt::format("{}:\n{}{}", table.name, bordered(grid, !table.transpose, '-'),
                         lines(notes_of(table)));
  }
}

}  // namespace bench::result
