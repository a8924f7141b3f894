#include "grid.hpp"
#include "writer.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

/// Lines as those of the LaTeX package booktabs.
constexpr std::string_view rules =
    "body { font-family: sans-serif }\n"
    "table { border-collapse: collapse; border-block: 2px solid }\n"
    "caption { text-align: left; font-weight: bold; padding-block: .5em }\n"
    "th, td { padding: .2em .6em; text-align: left; vertical-align: top; white-space: pre-line }\n"
    "thead th { border-bottom: 1px solid }\n"
    ".n { text-align: right; font-variant-numeric: tabular-nums }\n";

std::string row_text(const std::vector<std::string>& cells, const std::vector<bool>& of_numbers,
                     bool is_heading, bool begins_with_heading) {
  std::string text = "<tr>";
  for (std::size_t column = 0; column < cells.size(); ++column) {
    const char* tag = is_heading || (begins_with_heading && column == 0) ? "th" : "td";
    text += fmt::format("<{}{}>{}</{}>", tag, of_numbers[column] ? " class=\"n\"" : "",
                        html_text(cells[column]), tag);
  }
  return text + "</tr>\n";
}

std::string write_html(const Table& table, const std::vector<std::string>& notes) {
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n"
      "<style>\n{}</style>\n</head>\n<body>\n{}",
      html_text(table.name), rules, html_table(table));
  for (const std::string& note : notes)
    text += fmt::format("<p>{}</p>\n", html_text(note));
  return text + "</body>\n</html>\n";
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string escaped = with_visible_controls(text);
  for (const auto& [from, to] : {std::pair<std::string_view, std::string_view>{"&", "&amp;"},
                                 {"<", "&lt;"},
                                 {">", "&gt;"},
                                 {"\"", "&quot;"},
                                 {"'", "&#39;"}})
    escaped = replace_all(std::move(escaped), from, to);
  return escaped;
}

std::string html_table(const Table& table) {
  Grid grid = oriented_grid(table, not_available, Iterations::spread);
  drop_final_newlines(grid);
  std::vector<bool> of_numbers(grid.rows.front().size());
  if (!table.transpose)
    for (std::size_t column = 0; column < of_numbers.size(); ++column)
      of_numbers[column] = is_of_numbers(table, column);
  std::string text = fmt::format("<table>\n<caption>{}</caption>\n", html_text(table.name));
  for (const auto& row : grid.rows) {
    const bool is_heading = &row == &grid.rows.front() && !table.transpose;
    text += is_heading ? "<thead>\n" : "";
    text += row_text(row, of_numbers, is_heading, table.transpose);
    text += is_heading ? "</thead>\n" : "";
  }
  return text + "</table>\n";
}

const Writer html_writer{
    {.name = "html", .ending = ".html", .is_for_one_table = true, .shows_spreads = true},
    write_html};

}  // namespace bench::results
