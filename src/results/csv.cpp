#include "grid.hpp"
#include "writer.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/results/table.hpp>

namespace bench::result {
namespace {

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

}  // namespace

const Writer csv_writer{
    {.name = "csv", .ending = ".csv", .is_for_programs = true, .is_for_one_table = true},
    write_csv};

std::string csv_field(const std::string& text, const std::string& separator) {
  const bool has_separator = !separator.empty() && text.find(separator) != std::string::npos;
  if (!has_separator && text.find_first_of("\"\r\n") == std::string::npos)
    return text;
  return '"' + replace_all(text, "\"", "\"\"") + '"';
}

}  // namespace bench::result
