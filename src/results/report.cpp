#include "rows.hpp"
#include "table_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/columns.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/filters.hpp>
#include <bench/results/report.hpp>
#include <bench/results/table.hpp>
#include <bench/space/run.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::results {
namespace {

namespace fs = std::filesystem;

constexpr const char* share_format = ".6g";

/// The headings behind those of a table that shows a pattern's distribution function.
void add_distribution_headings(const std::string& pattern, const std::string& unit, Table& table) {
  table.headings.push_back({.title = pattern, .unit = unit, .place = {}, .name = pattern});
  table.headings.push_back({.title = "share", .unit = "", .place = {}, .name = "share"});
}

/// Adds a row for each different value, ascending, with the share of the values up to it. One row
/// without them where there are no values.
/// @param cells of the other columns
/// @param values the text of all values
void add_distribution(const std::vector<Cell>& cells, const RowSource& source, const Cell& values,
                      Table& table) {
  const auto add = [&](Cell value, Cell share) {
    auto& row = table.rows.emplace_back(cells);
    row.push_back(std::move(value));
    row.push_back(std::move(share));
    table.sources.push_back(source);
  };
  if (!values.value)
    return add(values, values);
  const auto ordered = split_names(to_text(*values.value), " ");
  for (std::size_t k = 0; k < ordered.size(); ++k)
    if (k + 1 == ordered.size() || ordered[k] != ordered[k + 1])
      add({.value = to_value(ordered[k], ValueType::real), .estimated = values.estimated},
          {.value = static_cast<double>(k + 1) / static_cast<double>(ordered.size()),
           .format = share_format});
}

/// Beside a statistic of it that is asked for, the median stands alone.
void drop_spreads_beside_statistics(const std::vector<model::Column>& columns, Table& table) {
  std::set<std::string, std::less<>> with_statistics;
  for (const model::Column& column : columns)
    if (const auto base = numbers::without_suffix(column.name); base != column.name)
      with_statistics.emplace(base);
  for (std::size_t k = 0; k < columns.size(); ++k)
    if (with_statistics.contains(columns[k].name))
      for (auto& row : table.rows)
        row[k].spread.reset();
}

void convert(Cell& cell, double factor) {
  if (!cell.value)
    return;
  if (cell.spread) {
    auto converted = std::make_shared<Spread>(*cell.spread);
    for (double* number : {&converted->median, &converted->low, &converted->high})
      *number *= factor;
    for (double& number : converted->numbers)
      number *= factor;
    cell.spread = std::move(converted);
  }
  if (const auto number = numbers::number_of(*cell.value))
    cell.value = *number * factor;
  else
    cell = {.absent_reason = fmt::format("'{}' is not a number", to_text(*cell.value))};
}

/// Fills the tables of one `result` element, whatever they become: shown, sent or stored.
class TableBuilder {
 public:
  /// What is passed must outlive this object.
  TableBuilder(const space::Run& run, const model::Result& result, const space::Lineage& family,
               const Analyses& analyses, Filters& filters, Diagnostics& diagnostics)
      : run_(run), result_(result), filters_(filters), diagnostics_(diagnostics) {
    for (const std::string& name : result.use)
      analysers_.push_back(std::make_unique<Rows>(run, family, name, analyses));
  }

  /// @param owner of the columns, for messages: `table 'r'`
  /// @param sort names of columns; empty: the order of the workpackages
  /// @param filter an expression over the columns; empty: all rows
  /// @param place of the element, for errors in its filter
  /// @param cdf a pattern whose distribution function takes the place of the rows; empty: none
  /// @throws Error for a filter, a unit or a baseline that does not fit
  Table fill(const std::string& name, const std::string& owner,
             const std::vector<model::Column>& columns, const std::vector<std::string>& sort,
             const std::string& filter, const Place& place, const std::string& cdf = "") {
    Table table;
    table.name = name;
    TableRows rows = rows_of(columns, table.notes);
    std::vector<Filler> fillers;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const model::Column& column = columns[k];
      warn_if_double(owner, column, table.headings);
      fillers.push_back(filler_of(column, rows.columns[k].get()));
      table.headings.push_back({.title = column.title.value_or(column.name),
                                .unit = fillers.back().unit,
                                .minimum_width = column.minimum_width,
                                .place = column.place,
                                .name = column.name,
                                .compare = column.compare});
    }
    filter_rows(rows.places, {filter, owner, place}, filters_, diagnostics_);
    sort_rows(rows.places, sort_keys(sort));
    table.rows.reserve(rows.places.size());
    table.sources.reserve(rows.places.size());
    if (!cdf.empty())
      add_distribution_headings(cdf, model::meaning_of(run_.benchmark, result_, cdf).unit, table);
    const std::vector<std::string> names = shown_names(columns);
    std::size_t number = 0;
    for (const RowPlace& row : rows.places) {
      std::vector<Cell> cells = cells_of(row, columns, fillers);
      RowSource source = row.rows->source(row.row);
      std::ranges::move(row.rows->remarks(row.row, names), std::back_inserter(source.remarks));
      if (!cdf.empty()) {
        source.row = number++;
        add_distribution(cells, source, row.cell(model::ordered_name(cdf)), table);
        continue;
      }
      table.rows.push_back(std::move(cells));
      table.sources.push_back(std::move(source));
    }
    drop_spreads_beside_statistics(columns, table);
    return table;
  }

  /// Evaluates a filter at every row, so that `filters` knows the outcomes.
  void evaluate_filter(const std::string& filter, const std::vector<model::Column>& columns) {
    std::vector<std::string> told_by_the_report;
    filters_.outcomes(filled_filters(rows_of(columns, told_by_the_report).places, filter));
  }

  const std::filesystem::path& run_directory() const { return run_.directory.path; }

  /// Where its files of results go.
  std::filesystem::path directory() const {
    if (result_.result_dir.empty())
      return run_.directory.path / "result";
    return fs::path(run_.metadata.home) / expand_user_and_environment(result_.result_dir) /
           workspace::padded(run_.directory.id);
  }

 private:
  /// The rows of a table, with what its columns calculate for them.
  struct TableRows {
    std::vector<RowPlace> places;
    std::vector<std::unique_ptr<CalculatedColumn>> columns;  ///< As the columns; else null.
    std::unique_ptr<CalculatedColumns> by_name = std::make_unique<CalculatedColumns>();
  };

  /// How the cells of a column are filled.
  struct Filler {
    std::string unit;
    ValueType type = ValueType::string;
    double factor = 1;                             ///< To the unit, from that of the values.
    const CalculatedColumn* calculated = nullptr;  ///< Null: the values of the column's name.
  };

  Filler filler_of(const model::Column& column, const CalculatedColumn* calculated) const {
    if (calculated)
      return {.unit = calculated->unit(), .type = ValueType::real, .calculated = calculated};
    const model::ColumnMeaning meaning = model::meaning_of(run_.benchmark, result_, column.name);
    if (column.unit.empty())
      return {.unit = meaning.unit, .type = meaning.type};
    return {.unit = column.unit,
            .type = meaning.type,
            .factor = model::factor_to(column.unit, column.unit_place, column.name, meaning)};
  }

  void warn_if_double(const std::string& owner, const model::Column& column,
                      const std::vector<Heading>& before) {
    const bool known = std::any_of(before.begin(), before.end(),
                                   [&](const auto& other) { return other.name == column.name; });
    if (known && !column.calculation && column.unit.empty())
      diagnostics_.warn(Id::duplicate_name,
                        fmt::format("{} has several columns '{}'", owner, column.name),
                        "all of them show the same values", column.place);
  }

  std::vector<SortName> sort_keys(const std::vector<std::string>& names) const {
    std::vector<SortName> keys;
    for (const std::string& name : names)
      keys.push_back({name, model::meaning_of(run_.benchmark, result_, name).type});
    return keys;
  }

  /// The names whose values make a row worth showing: those of the columns, or what these are
  /// calculated from.
  std::vector<std::string> shown_names(const std::vector<model::Column>& columns) const {
    std::vector<std::string> names;
    for (const model::Column& column : columns)
      if (column.calculation)
        std::ranges::move(model::names_for(run_.benchmark, result_, *column.calculation),
                          std::back_inserter(names));
      else
        names.push_back(column.name);
    return names;
  }

  /// One without any value is nothing to see, unless that is what its failure looks like.
  std::vector<RowPlace> places_with_values(const std::vector<std::string>& names,
                                           std::vector<std::string>& notes) const {
    std::vector<RowPlace> rows;
    std::size_t left_out = 0;
    std::string reason;
    for (const RowPlace& row : all_rows()) {
      const auto is_shown = [&](const std::string& name) {
        const Cell& cell = row.cell(name);
        return cell.value || !(cell.absent_reason.empty() || row.rows->is_pattern(name));
      };
      if (std::ranges::any_of(names, is_shown) || !row.rows->source(row.row).not_done.empty()) {
        rows.push_back(row);
        continue;
      }
      for (const std::string& name : names)
        if (const Cell& cell = row.cell(name); !cell.absent_reason.empty()) {
          left_out += 1;
          if (reason.empty())
            reason = fmt::format("{}: {}", name, cell.absent_reason);
          break;
        }
    }
    if (left_out > 0)
      notes.push_back(
          fmt::format("{} without any value omitted ({})", plural(left_out, "row"), reason));
    return rows;
  }

  TableRows rows_of(const std::vector<model::Column>& columns,
                    std::vector<std::string>& notes) const {
    TableRows rows{.places = places_with_values(shown_names(columns), notes), .columns = {}};
    for (const model::Column& column : columns) {
      auto& calculated = rows.columns.emplace_back();
      if (!column.calculation)
        continue;
      calculated = std::make_unique<CalculatedColumn>(run_.benchmark, result_, *column.calculation,
                                                      column.unit, column.unit_place, rows.places);
      for (const std::string& name : {column.name, column.title.value_or(column.name)})
        rows.by_name->emplace(name, calculated.get());
    }
    for (std::size_t k = 0; k < rows.places.size(); ++k) {
      rows.places[k].position = k;
      rows.places[k].calculated = rows.by_name.get();
    }
    return rows;
  }

  std::vector<RowPlace> all_rows() const {
    std::vector<RowPlace> rows;
    for (const auto& analyser : analysers_)
      for (std::size_t k = 0; k < analyser->size(); ++k)
        rows.push_back({analyser.get(), k});
    return rows;
  }

  static std::vector<Cell> cells_of(const RowPlace& row, const std::vector<model::Column>& columns,
                                    const std::vector<Filler>& fillers) {
    std::vector<Cell> cells;
    cells.reserve(columns.size());
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const Filler& filler = fillers[k];
      Cell& cell =
          cells.emplace_back(filler.calculated ? filler.calculated->shown(row)
                                               : row.rows->column(columns[k].name)[row.row]);
      if (filler.factor != 1)
        convert(cell, filler.factor);
      cell.format = columns[k].format;
      cell.is_calculated = filler.calculated || filler.factor != 1;
      cell.is_wide_integer = is_wide_integer(cell, filler.type);
      if (!cell.value && cell.absent_reason.empty() && !filler.calculated)
        cell.absent_reason = row.rows->why_unknown(row.row, columns[k].name);
    }
    return cells;
  }

  const space::Run& run_;
  const model::Result& result_;
  Filters& filters_;
  Diagnostics& diagnostics_;
  std::vector<std::unique_ptr<Rows>> analysers_;
};

FilledTable fill(TableBuilder& filling, const model::Table& table) {
  FilledTable filled{
      .table = filling.fill(table.name, fmt::format("table '{}'", table.name), table.columns,
                            table.sort, table.filter, table.place, table.cdf),
      .style = table.style,
      .result_directory = filling.directory(),
      .run_directory = filling.run_directory()};
  filled.table.separator = table.separator;
  filled.table.transpose = table.transpose;
  return filled;
}

FilledSyslog fill(TableBuilder& filling, const model::Syslog& syslog) {
  return {.rows = filling.fill(syslog.name, fmt::format("syslog '{}'", syslog.name), syslog.keys,
                               syslog.sort, syslog.filter, syslog.place),
          .target = {.name = syslog.name,
                     .address = expand_user_and_environment(syslog.address),
                     .host = syslog.host,
                     .port = syslog.port,
                     .format = syslog.format,
                     .place = syslog.place}};
}

FilledDatabase fill(const space::Run& run, TableBuilder& filling, const model::Database& database) {
  FilledDatabase filled{
      .rows = filling.fill(database.name, fmt::format("database '{}'", database.name),
                           database.keys, {}, database.filter, database.place),
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
  std::vector<model::Column> columns;
};

/// Those whose filter is not empty.
std::vector<FilteredColumns> filters_of(const model::Result& result) {
  std::vector<FilteredColumns> filters;
  const auto add = [&](const auto& all, auto columns) {
    for (const auto& one : all)
      if (!one.filter.empty())
        filters.push_back({one.filter, one.*columns});
  };
  add(result.tables, &model::Table::columns);
  add(result.syslogs, &model::Syslog::keys);
  add(result.databases, &model::Database::keys);
  return filters;
}

}  // namespace

Report report(const space::Run& run, const workspace::Workspace& workspace,
              const Analyses& analyses, const std::set<std::string>& only, Diagnostics& diagnostics,
              Trust trust, Failures* failures) {
  const auto all = space::in_last_cycle(run, workspace.workpackages());
  const space::Lineage family(all);
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

void keep_filters(const space::Run& run, const Analyses& analyses,
                  workspace::Workspace& workspace) {
  if (!has_filters(run.benchmark))
    return;
  const auto all = space::in_last_cycle(run, workspace.workpackages());
  const space::Lineage family(all);
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

}  // namespace bench::results
