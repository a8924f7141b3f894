#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/failures.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/cli/output/tables.hpp>
#include <bench/results/style.hpp>
#include <bench/results/table.hpp>

namespace bench::cli {
namespace {

std::string pretty_text(const result::Table& table, const std::string& advice) {
  const auto columns = terminal_columns();
  if (!columns || table.rows.empty() || result::pretty_width(table) <= *columns)
    return result::render(table, "pretty");
  return fmt::format("{}(wider than this terminal: one line per cell{})\n",
                     result::render_vertical(table), advice.empty() ? "" : "; " + advice);
}

/// @param advice nothing: for a file
std::string text_of(const ShownTable& shown, bool is_alone,
                    const std::optional<std::string>& advice) {
  const result::Style& style = *shown.style;
  if (style.may_be_vertical && advice)
    return pretty_text(shown.table, *advice);
  const std::string name = style.is_for_one_table && !is_alone ? shown.table.name + ":\n" : "";
  return name + result::render(shown.table, std::string(style.name));
}

/// A text for its file or terminal, and what is told beside it.
struct TableText {
  std::string text;
  std::vector<std::string> notes;
  bool precedes_blank_line = true;
};

void add_notes(const result::Table& table, const std::vector<std::string>& notes, TableText& to) {
  for (const std::string& note : notes)
    to.notes.push_back(fmt::format("note: {}: {}", table.name, note));
}

/// Of the tables, of all that are json together.
std::vector<TableText> texts_of(std::vector<ShownTable> tables,
                                const std::optional<std::string>& advice, Failures* failures) {
  std::vector<TableText> texts;
  TableText of_json;
  std::vector<result::Table> json;
  for (ShownTable& shown : tables)
    if (shown.style->joins_tables) {
      add_notes(shown.table, shown.table.notes, of_json);  // the rows themselves say the rest
      json.push_back(std::move(shown.table));
    } else {
      attempt(failures, [&] {
        const bool is_alone = tables.size() == 1;
        TableText text{
            text_of(shown, is_alone, advice), {}, !is_alone || shown.style->may_precede_blank_line};
        if (shown.style->is_for_programs)
          add_notes(shown.table, result::notes_of(shown.table), text);
        texts.push_back(std::move(text));
      });
    }
  if (json.empty())
    return texts;
  of_json.text = result::render_json(json);
  texts.push_back(std::move(of_json));
  return texts;
}

void tell_notes(const TableText& text) {
  for (const std::string& note : text.notes)
    tell(note);
}

}  // namespace

void print_tables(std::vector<ShownTable> tables, const std::string& advice, Failures* failures) {
  for (const TableText& text : texts_of(std::move(tables), advice, failures)) {
    print(text.precedes_blank_line ? text.text + "\n" : text.text);
    tell_notes(text);
  }
}

void write_tables(std::vector<ShownTable> tables, const std::filesystem::path& file,
                  Failures* failures) {
  std::string all;
  for (const TableText& text : texts_of(std::move(tables), std::nullopt, failures)) {
    all += (all.empty() ? "" : "\n") + text.text;
    tell_notes(text);
  }
  if (all.empty() && failures && !failures->empty())
    return;
  write_output(file, all);
}

}  // namespace bench::cli
