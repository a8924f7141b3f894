#include "grid.hpp"

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
  for (Row& row : grid.rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (column < grid.minimum_widths.size())
        row[column] = to_the_right(row[column], grid.minimum_widths[column]);
      row[column] = csv_field(row[column], separator);
    }
    if (row.size() == 1 && row.front().empty())
      row.front() = "\"\"";  // readers of csv skip empty lines
  }
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

/// A newline at the end of a cell is no further line.
void drop_final_newlines(Grid& grid) {
  for (Row& row : grid.rows)
    for (std::string& cell : row)
      while (cell.ends_with('\n'))
        cell.pop_back();
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

std::string render_markdown(Grid grid, const Table& table, const std::vector<std::string>& notes) {
  drop_final_newlines(grid);
  for (Row& row : grid.rows)
    for (std::string& cell : row)
      cell = markdown_text(std::move(cell));
  std::string text =
      fmt::format("**{}**\n\n{}", markdown_text(table.name), bordered(grid, true, ':'));
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

std::vector<std::string> style_names() {
  std::vector<std::string> names;
  for (const auto& [name, style] : styles)
    names.emplace_back(name);
  return names;
}

Style parse_style(const std::string& word) {
  for (const auto& [name, style] : styles)
    if (word == name)
      return style;
  throw Error(fmt::format("unknown table style '{}'", word),
              suggestion(word, style_names(), "the styles are "));
}

std::string render(const Table& table, Style style, Notes notes) {
  if (style == Style::json)
    return render_json({&table, 1});
  Grid grid = grid_of(table, style == Style::csv ? "" : "n/a");
  if (table.transpose)
    grid = transposed(grid);
  const auto below = notes == Notes::none ? std::vector<std::string>() : notes_of(table);
  switch (style) {
    case Style::csv:
      return render_csv(std::move(grid), table.separator);
    case Style::aligned:
      return render_aligned(std::move(grid), table.separator) + lines(below);
    case Style::markdown:
      return render_markdown(std::move(grid), table, below);
    default:
      drop_final_newlines(grid);
      return fmt::format("{}:\n{}{}", table.name, bordered(grid, !table.transpose, '-'),
                         lines(below));
  }
}

std::size_t pretty_width(const Table& table) {
  Grid grid = grid_of(table, "n/a");
  drop_final_newlines(grid);
  if (table.transpose)
    grid = transposed(grid);
  std::size_t width = 1;
  for (const std::size_t column : widths_of(grid))
    width += column + 3;
  return width;
}

std::string render_vertical(const Table& table) {
  Grid grid = grid_of(table, "n/a");
  drop_final_newlines(grid);
  std::size_t widest = 0;
  for (const std::string& heading : grid.rows.front())
    widest = std::max(widest, display_width(heading));
  std::string text;
  for (std::size_t row = 1; row < grid.rows.size(); ++row) {
    text += fmt::format("{}, row {} of {}:\n", table.name, row, table.rows.size());
    for (std::size_t column = 0; column < table.headings.size(); ++column)
      text += fmt::format(
          "  {} | {}\n", to_the_left(grid.rows.front()[column], widest),
          replace_all(grid.rows[row][column], "\n", "\n  " + std::string(widest, ' ') + " | "));
  }
  return text + lines(notes_of(table));
}

std::string csv_field(const std::string& text, const std::string& separator) {
  const bool has_separator = !separator.empty() && text.find(separator) != std::string::npos;
  if (!has_separator && text.find_first_of("\"\r\n") == std::string::npos)
    return text;
  return '"' + replace_all(text, "\"", "\"\"") + '"';
}

}  // namespace bench::result
