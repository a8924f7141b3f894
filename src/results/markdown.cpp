#include "grid.hpp"
#include "writer.hpp"

#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/markdown.hpp>
#include <bench/results/table.hpp>

namespace bench::result {
namespace {

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

}  // namespace

const Writer markdown_writer{{.name = "markdown", .ending = ".md", .shows_spreads = true},
                             write_markdown};

}  // namespace bench::result
