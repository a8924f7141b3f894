#pragma once

#include "pages/figure_source.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/results/table.hpp>

namespace bench::pages {

/// A table in the form of its csv: `batch,rate[images/s]` and rows; names that end in `*` are those
/// of parameters. A cell `OOM` is that of a row that ran out of memory, one `-` has no value, and
/// one that ends in `!` has the value that was found until the row failed.
inline Source source_from(const std::string& csv) {
  const std::vector<std::string> lines = split_names(csv, "\n");
  results::Table table;
  table.name = "t";
  std::vector<std::string> parameters;
  for (std::string title : split_names(lines.front())) {
    results::Heading heading;
    if (title.ends_with('*')) {
      title.pop_back();
      parameters.push_back(title);
    }
    if (const auto bracket = title.find('['); bracket != std::string::npos) {
      heading.unit = title.substr(bracket + 1, title.size() - bracket - 2);
      title.resize(bracket);
    }
    heading.title = heading.name = title;
    table.headings.push_back(heading);
  }
  for (std::size_t line = 1; line < lines.size(); ++line) {
    auto& row = table.rows.emplace_back();
    auto& source = table.sources.emplace_back();
    for (std::string cell : split_names(lines[line])) {
      auto& made = row.emplace_back();
      if (cell.ends_with('!')) {
        cell.pop_back();
        source.done = 0;
        source.not_done.push_back({.failed = true, .reason = "exit code 1"});
      }
      if (cell == "OOM") {
        source.done = 0;
        source.not_done.push_back({.failed = true, .reason = "out of memory: exit code 3"});
      } else if (cell != "-") {
        if (const auto integer = parse_integer(cell))
          made.value = *integer;
        else if (const auto number = parse_number(cell))
          made.value = *number;
        else
          made.value = cell;
      }
    }
  }
  return source_of(table, [&](const std::string& name) {
    return std::ranges::find(parameters, name) != parameters.end();
  });
}

}  // namespace bench::pages
