#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/cli/output/console.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/cli/output/tables.hpp>
#include <bench/result/style.hpp>
#include <bench/result/table.hpp>

namespace bench::cli {
namespace {

std::string pretty_text(const result::Table& table, const std::string& advice) {
  const auto columns = terminal_columns();
  if (!columns || table.rows.empty() || result::pretty_width(table) <= *columns)
    return result::render(table, "pretty");
  return fmt::format("{}(wider than this terminal: one line per cell{})\n",
                     result::render_vertical(table), advice.empty() ? "" : "; " + advice);
}

void tell_notes(const result::Table& table, const std::vector<std::string>& notes) {
  for (const std::string& note : notes)
    tell(fmt::format("note: {}: {}", table.name, note));
}

void print_table(const ShownTable& shown, bool is_alone, const std::string& advice) {
  const result::Style& style = *shown.style;
  if (style.may_be_vertical) {
    print(pretty_text(shown.table, advice) + "\n");
    return;
  }
  const std::string name = style.is_for_one_table && !is_alone ? shown.table.name + ":\n" : "";
  print(name + result::render(shown.table, std::string(style.name)) + "\n");
  if (style.is_for_programs)
    tell_notes(shown.table, result::notes_of(shown.table));
}

}  // namespace

void print_tables(std::vector<ShownTable> tables, const std::string& advice) {
  std::vector<result::Table> json;
  for (ShownTable& shown : tables)
    if (shown.style->joins_tables)
      json.push_back(std::move(shown.table));
    else
      print_table(shown, tables.size() == 1, advice);
  if (json.empty())
    return;
  print(result::render_json(json) + "\n");
  for (const result::Table& table : json)
    tell_notes(table, table.notes);  // the rows themselves say the rest
}

}  // namespace bench::cli
