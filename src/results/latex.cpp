#include "grid.hpp"
#include "writer.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

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

const Writer latex_writer{{.name = "latex", .ending = ".tex", .shows_spreads = true}, write_latex};

}  // namespace bench::results
