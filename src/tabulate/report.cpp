#include "row_order.hpp"
#include "rows.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/value.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/result/table.hpp>
#include <bench/setup/run.hpp>
#include <bench/statistics/statistics.hpp>
#include <bench/tabulate/column_meaning.hpp>
#include <bench/tabulate/filters.hpp>
#include <bench/tabulate/report.hpp>
#include <bench/workflow/lineage.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::tabulate {
namespace {

namespace fs = std::filesystem;
using result::Cell;

/// One column of any kind of result.
struct Wanted {
  std::string name;
  std::string title;
  std::string format;
  int minimum_width = 0;
  Place place;
  std::string compare = {};
};

std::vector<Wanted> wanted(const std::vector<model::Column>& columns) {
  std::vector<Wanted> all;
  for (const model::Column& column : columns)
    all.push_back({column.name, column.title.value_or(column.name), column.format,
                   column.minimum_width, column.place, column.compare});
  return all;
}

std::vector<Wanted> wanted(const std::vector<model::Key>& keys) {
  std::vector<Wanted> all;
  for (const model::Key& key : keys)
    all.push_back({key.name, key.title.empty() ? key.name : key.title, key.format, 0, key.place});
  return all;
}

/// Beside a statistic of it that is asked for, a value stays the first, as in JUBE.
void drop_spreads_beside_statistics(const std::vector<Wanted>& columns, result::Table& table) {
  std::set<std::string, std::less<>> with_statistics;
  for (const Wanted& column : columns)
    if (const auto base = statistics::without_suffix(column.name); base != column.name)
      with_statistics.emplace(base);
  for (std::size_t k = 0; k < columns.size(); ++k)
    if (with_statistics.contains(columns[k].name))
      for (auto& row : table.rows)
        row[k].spread.reset();
}

/// Fills the results of one `result` element.
class TableBuilder {
 public:
  TableBuilder(const setup::Run& run, const model::Result& result, const workflow::Lineage& family,
               const Analyses& analyses, Filters& filters, Diagnostics& diagnostics)
      : run_(run), result_(result), filters_(filters), diagnostics_(diagnostics) {
    for (const std::string& name : result.use)
      analysers_.push_back(std::make_unique<Rows>(run, family, name, analyses));
  }

  result::Table fill(const std::string& name, const std::string& owner,
                     const std::vector<Wanted>& columns, const std::vector<std::string>& sort,
                     const std::string& filter, const Place& place) {
    result::Table table;
    table.name = name;
    std::vector<ValueType> types;
    for (const Wanted& column : columns) {
      warn_if_double(owner, column, table.headings);
      const ColumnMeaning meaning = meaning_of(run_.benchmark, result_, column.name);
      types.push_back(meaning.type);
      table.headings.push_back({.title = column.title,
                                .unit = meaning.unit,
                                .minimum_width = column.minimum_width,
                                .place = column.place,
                                .name = column.name,
                                .compare = column.compare});
    }
    std::vector<RowPlace> rows = rows_with_values(columns, table.notes);
    filter_rows(rows, {filter, owner, place}, filters_, diagnostics_);
    sort_rows(rows, sort_keys(sort));
    table.rows.reserve(rows.size());
    table.sources.reserve(rows.size());
    for (const RowPlace& row : rows) {
      table.rows.push_back(cells_of(row, columns, types));
      table.sources.push_back(row.rows->source(row.row));
    }
    drop_spreads_beside_statistics(columns, table);
    return table;
  }

  void evaluate_filter(const std::string& filter) {
    filters_.outcomes(filled_filters(all_rows(), filter));
  }

  const fs::path& run_directory() const { return run_.directory.path; }

  fs::path directory() const {
    if (result_.result_dir.empty())
      return run_.directory.path / "result";
    return fs::path(run_.metadata.home) / expand_user_and_environment(result_.result_dir) /
           workspace::padded(run_.directory.id);
  }

 private:
  void warn_if_double(const std::string& owner, const Wanted& column,
                      const std::vector<result::Heading>& before) {
    const bool known = std::any_of(before.begin(), before.end(),
                                   [&](const auto& other) { return other.name == column.name; });
    if (known)
      diagnostics_.warn(fmt::format("{} has several columns '{}'", owner, column.name),
                        "all of them show the same values", column.place);
  }

  std::vector<SortName> sort_keys(const std::vector<std::string>& names) const {
    std::vector<SortName> keys;
    for (const std::string& name : names)
      keys.push_back({name, meaning_of(run_.benchmark, result_, name).type});
    return keys;
  }

  /// One without any value is nothing to see, unless that is what its failure looks like.
  std::vector<RowPlace> rows_with_values(const std::vector<Wanted>& columns,
                                         std::vector<std::string>& notes) const {
    std::vector<RowPlace> rows;
    std::size_t left_out = 0;
    std::string reason;
    for (const RowPlace& row : all_rows()) {
      const auto is_shown = [&](const Wanted& column) {
        const Cell& cell = row.cell(column.name);
        return cell.value || !(cell.absent_reason.empty() || row.rows->is_pattern(column.name));
      };
      if (std::ranges::any_of(columns, is_shown) || !row.rows->source(row.row).not_done.empty()) {
        rows.push_back(row);
        continue;
      }
      for (const Wanted& column : columns)
        if (const Cell& cell = row.cell(column.name); !cell.absent_reason.empty()) {
          left_out += 1;
          if (reason.empty())
            reason = fmt::format("{}: {}", column.name, cell.absent_reason);
          break;
        }
    }
    if (left_out > 0)
      notes.push_back(fmt::format("{} row{} without any value omitted ({})", left_out,
                                  left_out == 1 ? "" : "s", reason));
    return rows;
  }

  std::vector<RowPlace> all_rows() const {
    std::vector<RowPlace> rows;
    for (const auto& analyser : analysers_)
      for (std::size_t k = 0; k < analyser->size(); ++k)
        rows.push_back({analyser.get(), k});
    return rows;
  }

  static std::vector<Cell> cells_of(const RowPlace& row, const std::vector<Wanted>& columns,
                                    const std::vector<ValueType>& types) {
    std::vector<Cell> cells;
    cells.reserve(columns.size());
    for (std::size_t k = 0; k < columns.size(); ++k) {
      Cell& cell = cells.emplace_back(row.cell(columns[k].name));
      cell.format = columns[k].format;
      cell.is_wide_integer = is_wide_integer(cell, types[k]);
      if (!cell.value && cell.absent_reason.empty())
        cell.absent_reason = row.rows->why_unknown(row.row, columns[k].name);
    }
    return cells;
  }

  const setup::Run& run_;
  const model::Result& result_;
  Filters& filters_;
  Diagnostics& diagnostics_;
  std::vector<std::unique_ptr<Rows>> analysers_;
};

FilledTable fill(TableBuilder& filling, const model::Table& table) {
  FilledTable filled{
      .table = filling.fill(table.name, fmt::format("table '{}'", table.name),
                            wanted(table.columns), table.sort, table.filter, table.place),
      .style = table.style,
      .result_directory = filling.directory(),
      .run_directory = filling.run_directory()};
  filled.table.separator = table.separator;
  filled.table.transpose = table.transpose;
  return filled;
}

FilledSyslog fill(TableBuilder& filling, const model::Syslog& syslog) {
  return {.rows = filling.fill(syslog.name, fmt::format("syslog '{}'", syslog.name),
                               wanted(syslog.keys), syslog.sort, syslog.filter, syslog.place),
          .target = {.name = syslog.name,
                     .address = expand_user_and_environment(syslog.address),
                     .host = syslog.host,
                     .port = syslog.port,
                     .format = syslog.format,
                     .place = syslog.place}};
}

FilledDatabase fill(const setup::Run& run, TableBuilder& filling, const model::Database& database) {
  FilledDatabase filled{
      .rows = filling.fill(database.name, fmt::format("database '{}'", database.name),
                           wanted(database.keys), {}, database.filter, database.place),
      .target = {.file = filling.directory() / (database.name + ".dat"),
                 .run = run.metadata.uuid,
                 .primary_key = {},
                 .place = database.place},
      .result_directory = filling.directory(),
      .run_directory = filling.run_directory()};
  if (!database.file.empty())
    filled.target.file = fs::absolute(expand_user_and_environment(database.file));
  for (std::size_t k = 0; k < database.keys.size(); ++k)
    if (database.keys[k].primary)
      filled.target.primary_key.push_back(filled.rows.headings[k].title);
  return filled;
}

/// Those that are not empty.
std::vector<std::string> filters_of(const model::Result& result) {
  std::vector<std::string> filters;
  const auto add = [&](const auto& all) {
    for (const auto& one : all)
      if (!one.filter.empty())
        filters.push_back(one.filter);
  };
  add(result.tables);
  add(result.syslogs);
  add(result.databases);
  return filters;
}

}  // namespace

Report report(const setup::Run& run, const workspace::Workspace& workspace,
              const Analyses& analyses, const std::set<std::string>& only, Diagnostics& diagnostics,
              Trust trust) {
  const auto all = workspace.workpackages();
  const workflow::Lineage family(all);
  const auto is_wanted = [&](const std::string& name) {
    return only.empty() || only.contains(name);
  };
  Filters filters(workspace, trust);
  Report report;
  for (const model::Result& result : run.benchmark.results) {
    TableBuilder filling(run, result, family, analyses, filters, diagnostics);
    for (const model::Table& table : result.tables)
      if (is_wanted(table.name))
        report.tables.push_back(fill(filling, table));
    for (const model::Syslog& syslog : result.syslogs)
      if (is_wanted(syslog.name))
        report.syslogs.push_back(fill(filling, syslog));
    for (const model::Database& database : result.databases)
      if (is_wanted(database.name))
        report.databases.push_back(fill(run, filling, database));
  }
  return report;
}

bool has_filters(const model::Benchmark& benchmark) {
  return std::ranges::any_of(
      benchmark.results, [](const model::Result& result) { return !filters_of(result).empty(); });
}

void keep_filters(const setup::Run& run, const Analyses& analyses,
                  workspace::Workspace& workspace) {
  if (!has_filters(run.benchmark))
    return;
  const auto all = workspace.workpackages();
  const workflow::Lineage family(all);
  Filters filters(Trust::own);
  Diagnostics told_by_the_report;
  for (const model::Result& result : run.benchmark.results) {
    TableBuilder filling(run, result, family, analyses, filters, told_by_the_report);
    for (const std::string& filter : filters_of(result))
      filling.evaluate_filter(filter);
  }
  workspace.set_fact("filters", filters.kept());
}

std::vector<std::string> result_names(const model::Benchmark& benchmark) {
  std::vector<std::string> names;
  for (const model::Result& result : benchmark.results) {
    for (const model::Table& table : result.tables)
      names.push_back(table.name);
    for (const model::Syslog& syslog : result.syslogs)
      names.push_back(syslog.name);
    for (const model::Database& database : result.databases)
      names.push_back(database.name);
  }
  return names;
}

}  // namespace bench::tabulate
