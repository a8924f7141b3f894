#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/cli/output/show.hpp>
#include <bench/results/arrange.hpp>
#include <bench/results/database.hpp>
#include <bench/results/report.hpp>
#include <bench/results/syslog.hpp>
#include <bench/results/table.hpp>

namespace bench::cli {
namespace {

std::string pretty_text(const results::Table& table, const std::string& advice) {
  const auto columns = terminal_columns();
  if (!columns || table.rows.empty() || results::pretty_width(table) <= *columns)
    return results::render(table, "pretty");
  return fmt::format("{}(wider than this terminal: one line per cell{})\n",
                     results::render_vertical(table), advice.empty() ? "" : "; " + advice);
}

/// @param advice nothing: for a file
std::string text_of(const ShownTable& shown, bool is_alone,
                    const std::optional<std::string>& advice) {
  const results::Style& style = *shown.style;
  if (style.may_be_vertical && advice)
    return pretty_text(shown.table, *advice);
  const std::string name = style.is_for_one_table && !is_alone ? shown.table.name + ":\n" : "";
  return name + results::render(shown.table, std::string(style.name));
}

/// A text for its file or terminal, and what is told beside it.
struct TableText {
  std::string text;
  std::vector<std::string> notes;
  bool precedes_blank_line = true;
};

void add_notes(const results::Table& table, const std::vector<std::string>& notes, TableText& to) {
  for (const std::string& note : notes)
    to.notes.push_back(fmt::format("note: {}: {}", table.name, note));
}

/// Of the tables, of all that are json together.
std::vector<TableText> texts_of(std::vector<ShownTable> tables,
                                const std::optional<std::string>& advice, Failures* failures) {
  std::vector<TableText> texts;
  TableText of_json;
  std::vector<results::Table> json;
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
          add_notes(shown.table, results::notes_of(shown.table), text);
        texts.push_back(std::move(text));
      });
    }
  if (json.empty())
    return texts;
  of_json.text = results::render_json(json);
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

namespace {

/// The tables of one name, ascending by run.
struct SameName {
  std::vector<results::RunTable> tables;
  std::string style;  ///< Of the newest.
};

void keep(const results::FilledDatabase& filled) {
  refuse_link_out(filled.run_directory, filled.target.file);
  results::write(filled.rows, filled.target);
  const auto own_file = filled.result_directory / (filled.rows.name + ".dat");
  if (filled.target.file != own_file) {
    refuse_link_out(filled.run_directory, filled.result_directory);
    make_directories(filled.result_directory);
    write_file_atomically(own_file, filled.target.file.string() + "\n");
  }
}

void keep(const results::FilledTable& filled) {
  refuse_link_out(filled.run_directory, filled.result_directory);
  make_directories(filled.result_directory);
  const auto notes = results::style_of(filled.style).has_notes_in_files ? results::Notes::below
                                                                        : results::Notes::none;
  write_file_atomically(filled.result_directory / (filled.table.name + ".dat"),
                        results::render(filled.table, filled.style, notes));
}

void keep(const results::FilledSyslog& filled, bool between_tables) {
  const auto messages = results::messages_of(filled.rows);
  results::send(filled.target, messages);
  for (const std::string& message : messages)
    between_tables ? print(message + "\n") : tell(message);
}

/// By name, in the order of the newest run; those of older runs alone come last.
std::vector<SameName> by_name(std::vector<RunReport>& runs) {
  std::vector<SameName> all;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    for (results::FilledTable& filled : run->report.tables) {
      auto same = std::find_if(all.begin(), all.end(), [&](const SameName& known) {
        return known.tables.front().table.name == filled.table.name;
      });
      if (same == all.end())
        same = all.insert(all.end(), {.tables = {}, .style = filled.style});
      same->tables.insert(same->tables.begin(), {.id = run->id, .table = std::move(filled.table)});
    }
  return all;
}

/// Warns of columns that no table has.
/// @throws Error if that leaves nothing to show
void check_columns(const std::vector<ShownTable>& tables, const ShowOptions& options) {
  std::set<std::string> names;
  for (const ShownTable& shown : tables)
    for (const results::Heading& heading : shown.table.headings)
      names.insert({heading.name, heading.title});
  names.erase("");
  const std::vector<std::string> known(names.begin(), names.end());
  const auto is_unknown = [&](const std::string& name) { return !names.contains(name); };
  const auto hint_for = [&](const std::string& name) {
    return suggestion(name, known, "the columns are ");
  };
  if (!tables.empty() && !options.select.empty() && std::ranges::all_of(options.select, is_unknown))
    throw Error(Id::unknown_name, fmt::format("unknown column '{}'", options.select.front()),
                hint_for(options.select.front()));
  Diagnostics diagnostics = telling_diagnostics();
  for (const auto* chosen : {&options.select, &options.exclude})
    for (const std::string& name : *chosen)
      if (is_unknown(name))
        diagnostics.warn(Id::unknown_name, fmt::format("unknown column '{}'", name), hint_for(name),
                         {});
}

std::vector<ShownTable> shown_tables(std::vector<SameName> all, bool several_runs,
                                     const ShowOptions& options) {
  std::vector<ShownTable> tables;
  for (SameName& same : all)
    tables.push_back({several_runs ? results::combine(same.tables, options.descending)
                                   : std::move(same.tables.front().table),
                      &results::style_of(options.style.empty() ? same.style : options.style)});
  return tables;
}

/// Full values, if they are asked for, and no spreads where the style shows none.
void choose_values(ShownTable& shown, bool raw) {
  for (auto& row : shown.table.rows)
    for (results::Cell& cell : row) {
      if (raw) {
        cell.format.clear();
        cell.is_calculated = false;
      }
      if (raw || !shown.style->shows_spreads)
        cell.spread.reset();
    }
}

/// Makes of the tables what the options ask for.
/// @param always a column that is shown beside the selected ones; may be empty
void arrange(std::vector<ShownTable>& tables, const std::string& always,
             const ShowOptions& options) {
  check_columns(tables, options);
  std::vector<std::string> select = options.select;
  if (!select.empty() && !always.empty())
    select.push_back(always);
  for (ShownTable& shown : tables) {
    choose_values(shown, options.raw);
    if (!options.where.empty())
      results::choose_rows(shown.table, options.where);
    if (!options.sort.empty())
      results::sort_rows(shown.table, options.sort);
    results::choose_columns(shown.table, select, options.exclude);
  }
  std::erase_if(tables, [&](const ShownTable& shown) {  // nothing of it was selected
    return std::ranges::all_of(shown.table.headings, [&](const results::Heading& heading) {
      return heading.name == always;
    });
  });
}

void refuse_several(const std::vector<ShownTable>& tables, const ShowOptions& options) {
  if (tables.size() < 2 || options.style.empty() ||
      !results::style_of(options.style).is_for_one_table)
    return;
  std::vector<std::string> names;
  for (const ShownTable& shown : tables)
    names.push_back(shown.table.name);
  throw Error(Id::usage,
              fmt::format("style {} prints one table, but there are {}: {}", options.style,
                          names.size(), join(names, ", ")),
              fmt::format("select one: `--only {}`; `-s json` prints all", names.front()));
}

void refuse_contradiction(const ShowOptions& options) {
  for (const std::string& name : options.select)
    if (std::find(options.exclude.begin(), options.exclude.end(), name) != options.exclude.end())
      throw Error(Id::usage, fmt::format("column '{}' is both selected and excluded", name));
}

void refuse_on_terminal(const std::vector<ShownTable>& tables) {
  for (const ShownTable& shown : tables)
    if (!shown.style->is_text && ::isatty(STDOUT_FILENO) == 1)
      throw Error(Id::usage, fmt::format("style {} is not text", shown.style->name),
                  "write it to a file: --output FILE");
}

void put(std::vector<ShownTable> tables, const ShowOptions& options, Failures* failures) {
  if (options.file.empty())
    refuse_on_terminal(tables);
  if (options.file.empty())
    print_tables(std::move(tables), "--select NAME selects columns", failures);
  else
    write_tables(std::move(tables), options.file, failures);
}

}  // namespace

void keep_tables(const results::Report& report, Failures& failures) {
  for (const results::FilledTable& table : report.tables)
    failures.attempt([&] { keep(table); });
}

void send(const results::Report& report, const std::string& style, Failures& failures) {
  const bool between_tables = style.empty() || !results::style_of(style).is_for_programs;
  for (const results::FilledSyslog& syslog : report.syslogs)
    failures.attempt([&] { keep(syslog, between_tables); });
  for (const results::FilledDatabase& database : report.databases)
    failures.attempt([&] { keep(database); });
}

void show(std::vector<RunReport>& runs, bool several_runs, const ShowOptions& options,
          Failures* failures) {
  refuse_contradiction(options);
  const bool all_failed = failures && !failures->empty();
  if (!all_failed &&
      std::ranges::all_of(runs, [](const RunReport& run) { return run.report.empty(); }))
    tell(
        "note: the benchmark has no table, syslog or database; see `bench help result`; --tidy "
        "needs none");
  std::vector<ShownTable> tables = shown_tables(by_name(runs), several_runs, options);
  arrange(tables, several_runs ? "id" : "", options);
  refuse_several(tables, options);
  put(std::move(tables), options, failures);
}

void show(results::Table table, const std::string& style, const ShowOptions& options) {
  refuse_contradiction(options);
  std::vector<ShownTable> tables;
  tables.push_back(
      {std::move(table), &results::style_of(options.style.empty() ? style : options.style)});
  arrange(tables, "", options);
  put(std::move(tables), options, nullptr);
}

}  // namespace bench::cli
