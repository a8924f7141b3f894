#include "grid.hpp"
#include "writer.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <bench/results/table.hpp>

namespace bench::result {
namespace {

std::string write_aligned(const Table& table, const std::vector<std::string>& notes) {
  Grid grid = oriented_grid(table, not_available, Iterations::first);
  replace_in_cells(grid, "\n", " ");
  const auto widths = widths_of(grid);
  for (auto& row : grid.rows)
    for (std::size_t column = 0; column < row.size(); ++column)
      row[column] = to_the_right(row[column], widths[column]);
  std::string text = joined_rows(grid, table.separator);
  for (const std::string& note : notes)
    text += note + "\n";
  return text;
}

}  // namespace

// Programs read the files, too.
const Writer aligned_writer{{.name = "aligned", .has_notes_in_files = false}, write_aligned};

}  // namespace bench::result
