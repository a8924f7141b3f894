// The styles of plain text: aligned, csv, latex, markdown, pretty.
#include "grid.hpp"
#include "writer.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/markdown.hpp>
#include <bench/base/text.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

std::string lines(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes)
    text += note + "\n";
  return text;
}

std::string write_aligned(const Table& table, const std::vector<std::string>& notes) {
  Grid grid = oriented_grid(table, not_available, Iterations::first);
  replace_in_cells(grid, "\n", " ");
  const auto widths = widths_of(grid);
  for (auto& row : grid.rows)
    for (std::size_t column = 0; column < row.size(); ++column)
      row[column] = to_the_right(row[column], widths[column]);
  return joined_rows(grid, table.separator) + lines(notes);
}

std::string write_csv(const Table& table, const std::vector<std::string>&) {
  Grid grid = oriented_grid(table, "", Iterations::first);
  replace_in_cells(grid, "\n", " ");
  for (auto& row : grid.rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (column < grid.minimum_widths.size())
        row[column] = to_the_right(row[column], grid.minimum_widths[column]);
      row[column] = csv_field(row[column], table.separator);
    }
    if (row.size() == 1 && row.front().empty())
      row.front() = "\"\"";  // readers of csv skip empty lines
  }
  return joined_rows(grid, table.separator);
}

std::string write_markdown(const Table& table, const std::vector<std::string>& notes) {
  Grid grid = oriented_grid(table, not_available, Iterations::spread);
  drop_final_newlines(grid);
  for (auto& row : grid.rows)
    for (std::string& cell : row)
      cell = markdown_text(cell);
  std::string text =
      fmt::format("**{}**\n\n{}", markdown_text(table.name), bordered(grid, true, ':'));
  if (!notes.empty())
    text += "\n";
  for (const std::string& note : notes)
    text += fmt::format("- {}\n", markdown_text(note));
  return text;
}

std::string write_pretty(const Table& table, const std::vector<std::string>& notes) {
  Grid grid = oriented_grid(table, not_available, Iterations::spread);
  drop_final_newlines(grid);
  return fmt::format("{}:\n{}{}", table.name, bordered(grid, !table.transpose, '-'), lines(notes));
}

/// Characters that mean something to LaTeX, as the characters themselves.
std::string latex_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        escaped += '\\';
        escaped += c;
        break;
      case '~':
        escaped += "\\textasciitilde{}";
        break;
      case '^':
        escaped += "\\textasciicircum{}";
        break;
      case '\\':
        escaped += "\\textbackslash{}";
        break;
      case '<':
        escaped += "\\textless{}";
        break;
      case '>':
        escaped += "\\textgreater{}";
        break;
      case '|':
        escaped += "\\textbar{}";
        break;
      case '\n':
        escaped += ' ';
        break;
      default:
        escaped += c;
    }
  }
  // `\\` and the rules take what follows them for their own options.
  const std::size_t first = escaped.find_first_not_of(' ');
  if (first != std::string::npos && (escaped[first] == '[' || escaped[first] == '*'))
    escaped = fmt::format("{{{}}}{}", escaped[first], escaped.substr(first + 1));
  return escaped;
}

std::string write_latex(const Table& table, const std::vector<std::string>& notes) {
  Grid grid = oriented_grid(table, "--", Iterations::spread);
  drop_final_newlines(grid);
  std::string columns;
  for (std::size_t column = 0; column < grid.rows.front().size(); ++column)
    columns += !table.transpose && is_of_numbers(table, column) ? 'r' : 'l';
  std::string text =
      fmt::format("% {}, needs \\usepackage{{booktabs}}\n\\begin{{tabular}}{{{}}}\n\\toprule\n",
                  replace_all(table.name, "\n", " "), columns);
  for (auto& row : grid.rows) {
    for (std::string& cell : row)
      cell = replace_all(latex_text(cell), "±", "$\\pm$");
    text += join(row, " & ") + " \\\\\n";
    if (&row == &grid.rows.front() && !table.transpose)
      text += "\\midrule\n";
  }
  text += "\\bottomrule\n\\end{tabular}\n";
  for (const std::string& note : notes)
    text += "% " + replace_all(note, "\n", " ") + "\n";
  return text;
}

}  // namespace

// Programs read the files, too.
const Writer aligned_writer{{.name = "aligned", .has_notes_in_files = false}, write_aligned};

const Writer csv_writer{
    {.name = "csv", .ending = ".csv", .is_for_programs = true, .is_for_one_table = true},
    write_csv};

std::string csv_field(const std::string& text, const std::string& separator) {
  const bool has_separator = !separator.empty() && text.find(separator) != std::string::npos;
  if (!has_separator && text.find_first_of("\"\r\n") == std::string::npos)
    return text;
  return '"' + replace_all(text, "\"", "\"\"") + '"';
}

const Writer markdown_writer{{.name = "markdown", .ending = ".md", .shows_spreads = true},
                             write_markdown};

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

const Writer latex_writer{{.name = "latex", .ending = ".tex", .shows_spreads = true}, write_latex};

}  // namespace bench::results
