#include "last_cycle.hpp"
#include "table_builder.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/failures.hpp>
#include <bench/base/files.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/filters.hpp>
#include <bench/results/report.hpp>
#include <bench/results/table.hpp>
#include <bench/space/lineage.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::tabulate {
namespace {

namespace fs = std::filesystem;

FilledTable fill(TableBuilder& filling, const model::Table& table) {
  FilledTable filled{.table = filling.fill(table.name, fmt::format("table '{}'", table.name),
                                           wanted(table.columns), table.sort, table.filter,
                                           table.place, table.cdf),
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

/// A filter, and the columns whose values it may use.
struct FilteredColumns {
  std::string filter;
  std::vector<WantedColumn> columns;
};

/// Those whose filter is not empty.
std::vector<FilteredColumns> filters_of(const model::Result& result) {
  std::vector<FilteredColumns> filters;
  const auto add = [&](const auto& all, auto columns) {
    for (const auto& one : all)
      if (!one.filter.empty())
        filters.push_back({one.filter, wanted(one.*columns)});
  };
  add(result.tables, &model::Table::columns);
  add(result.syslogs, &model::Syslog::keys);
  add(result.databases, &model::Database::keys);
  return filters;
}

}  // namespace

Report report(const setup::Run& run, const workspace::Workspace& workspace,
              const Analyses& analyses, const std::set<std::string>& only, Diagnostics& diagnostics,
              Trust trust, Failures* failures) {
  const auto all = in_last_cycle(run, workspace.workpackages());
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
        attempt(failures, [&] { report.tables.push_back(fill(filling, table)); });
    for (const model::Syslog& syslog : result.syslogs)
      if (is_wanted(syslog.name))
        attempt(failures, [&] { report.syslogs.push_back(fill(filling, syslog)); });
    for (const model::Database& database : result.databases)
      if (is_wanted(database.name))
        attempt(failures, [&] { report.databases.push_back(fill(run, filling, database)); });
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
  const auto all = in_last_cycle(run, workspace.workpackages());
  const workflow::Lineage family(all);
  Filters filters(Trust::own);
  Diagnostics told_by_the_report;
  for (const model::Result& result : run.benchmark.results) {
    TableBuilder filling(run, result, family, analyses, filters, told_by_the_report);
    for (const auto& [filter, columns] : filters_of(result))
      filling.evaluate_filter(filter, columns);
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
