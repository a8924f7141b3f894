#include "show.hpp"

#include "output.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/core.h>

#include <bench/base/below.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/result/combine.hpp>

namespace bench::cli {
namespace {

/// The tables of one name, ascending by run.
struct SameName {
  std::vector<result::RunTable> tables;
  std::string style;  ///< Of the newest.
};

void keep(const engine::FilledDatabase& filled) {
  refuse_link_out(filled.run_directory, filled.target.file);
  result::write(filled.rows, filled.target);
  const auto own_file = filled.result_directory / (filled.rows.name + ".dat");
  if (filled.target.file != own_file) {
    refuse_link_out(filled.run_directory, filled.result_directory);
    make_directories(filled.result_directory);
    write_file_atomically(own_file, filled.target.file.string() + "\n");
  }
}

void keep(const engine::FilledTable& filled) {
  refuse_link_out(filled.run_directory, filled.result_directory);
  make_directories(filled.result_directory);
  write_file_atomically(filled.result_directory / (filled.table.name + ".dat"),
                        result::render(filled.table, result::parse_style(filled.style)));
}

void keep(const engine::FilledSyslog& filled) {
  const auto messages = result::messages_of(filled.rows);
  result::send(filled.target, messages);
  for (const std::string& message : messages)
    print(message + "\n");
}

/// By name, in the order of the newest run; those of older runs alone come last.
std::vector<SameName> by_name(const std::vector<RunReport>& runs) {
  std::vector<SameName> all;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    for (const engine::FilledTable& filled : run->report.tables) {
      auto same = std::find_if(all.begin(), all.end(), [&](const SameName& known) {
        return known.tables.front().table.name == filled.table.name;
      });
      if (same == all.end())
        same = all.insert(all.end(), {.tables = {}, .style = filled.style});
      same->tables.insert(same->tables.begin(), {.id = run->id, .table = filled.table});
    }
  return all;
}

void warn_of_unknown(const std::vector<SameName>& all, const ShowOptions& options) {
  std::set<std::string> names;
  for (const SameName& same : all)
    for (const result::RunTable& one : same.tables)
      for (const result::Heading& heading : one.table.headings)
        names.insert(heading.name);
  const std::vector<std::string> known(names.begin(), names.end());
  Diagnostics diagnostics = telling_diagnostics();
  for (const auto* chosen : {&options.select, &options.exclude})
    for (const std::string& name : *chosen)
      if (!names.contains(name))
        diagnostics.warn(fmt::format("no table has a column '{}'", name), did_you_mean(name, known),
                         {});
}

void refuse_contradiction(const ShowOptions& options) {
  for (const std::string& name : options.select)
    if (std::find(options.exclude.begin(), options.exclude.end(), name) != options.exclude.end())
      throw Error(fmt::format("column '{}' is both selected and excluded", name));
}

}  // namespace

void keep(const engine::Report& report) {
  for (const engine::FilledTable& table : report.tables)
    keep(table);
  for (const engine::FilledSyslog& syslog : report.syslogs)
    keep(syslog);
  for (const engine::FilledDatabase& database : report.databases)
    keep(database);
}

void show(const std::vector<RunReport>& runs, const ShowOptions& options) {
  refuse_contradiction(options);
  if (std::ranges::all_of(runs, [](const RunReport& run) { return run.report.empty(); }))
    tell("note: the benchmark defines no table, syslog or database (see `bench help result`)");
  std::vector<SameName> all = by_name(runs);
  warn_of_unknown(all, options);
  for (SameName& same : all) {
    for (result::RunTable& one : same.tables)
      result::choose_columns(one.table, options.select, options.exclude);
    const result::Table table = runs.size() > 1 ? result::combine(same.tables, options.descending)
                                                : std::move(same.tables.front().table);
    const std::size_t own_columns = table.headings.size() - (runs.size() > 1 ? 1 : 0);
    if (own_columns > 0)  // Nothing of it may have been selected.
      print(result::render(
                table, result::parse_style(options.style.empty() ? same.style : options.style)) +
            "\n");
  }
}

}  // namespace bench::cli
