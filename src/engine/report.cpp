#include "rows.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/engine/report.hpp>
#include <bench/expand/expand.hpp>

namespace bench::engine {
namespace {

using result::Cell;

/// One row before formatting: where it comes from and its cells.
struct Row {
  const Rows* rows;
  long long head;
  std::vector<Cell> cells;
};

/// `name` without a statistics suffix that keeps the unit.
std::string base_name(const std::string& name) {
  constexpr std::array<std::string_view, 7> suffixes{"_first", "_last", "_min", "_max",
                                                     "_avg",   "_sum",  "_std"};
  for (const std::string_view suffix : suffixes)
    if (name.ends_with(suffix))
      return name.substr(0, name.size() - suffix.size());
  return name;
}

/// What the meter's names end in says their unit.
std::string unit_of_meter(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, const char*>, 4> units{
      {{"_wh", "Wh"}, {"_j", "J"}, {"_w", "W"}, {"_s", "s"}}};
  for (const auto& [suffix, unit] : units)
    if (name.ends_with(suffix))
      return unit;
  return "";
}

std::string unit_of(const model::Benchmark& benchmark, const std::string& column) {
  const std::string name = base_name(column);
  for (const model::PatternSet& set : benchmark.pattern_sets)
    for (const model::Pattern& pattern : set.patterns)
      if (pattern.name == name || pattern.name == column)
        return pattern.unit;
  for (const model::ParameterSet& set : benchmark.parameter_sets)
    for (const model::Parameter& parameter : set.parameters)
      if (parameter.name == column || column.starts_with(parameter.name + "_"))
        return parameter.unit;
  return name.starts_with("energy_") || name.starts_with("power_") || name == "duration_s"
             ? unit_of_meter(name)
             : "";
}

bool is_empty(const Row& row) {
  return std::all_of(row.cells.begin(), row.cells.end(),
                     [](const Cell& cell) { return !cell.value && cell.absent_reason.empty(); });
}

/// Orders numbers before texts and both before missing values.
int compare(const Cell& a, const Cell& b) {
  const auto rank = [](const Cell& cell) {
    return !cell.value ? 2 : std::holds_alternative<std::string>(*cell.value) ? 1 : 0;
  };
  if (rank(a) != rank(b))
    return rank(a) < rank(b) ? -1 : 1;
  if (rank(a) == 2)
    return 0;
  if (rank(a) == 1)
    return std::get<std::string>(*a.value).compare(std::get<std::string>(*b.value));
  const auto number = [](const Cell& cell) {
    const auto* integer = std::get_if<long long>(&*cell.value);
    return integer ? static_cast<double>(*integer) : std::get<double>(*cell.value);
  };
  return number(a) < number(b) ? -1 : number(b) < number(a) ? 1 : 0;
}

void sort_rows(std::vector<Row>& rows, const std::vector<std::string>& names) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    for (const std::string& name : names)
      if (const int order = compare(a.rows->cell(a.head, name), b.rows->cell(b.head, name)))
        return order < 0;
    return false;
  });
}

void filter_rows(std::vector<Row>& rows, const model::Table& table) {
  if (table.filter.empty())
    return;
  std::vector<std::string> texts;
  for (const Row& row : rows) {
    std::vector<std::unique_ptr<std::string>> values;
    texts.push_back(
        evaluate::substitute(table.filter, [&](std::string_view name) -> const std::string* {
          const Cell cell = row.rows->cell(row.head, std::string(name));
          if (!cell.value)
            return nullptr;
          return values.emplace_back(std::make_unique<std::string>(to_text(*cell.value))).get();
        }));
  }
  evaluate::Evaluator evaluator;
  const auto outcomes = evaluator.evaluate_truth(texts);
  std::vector<Row> kept;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (!outcomes[k].ok)
      throw Error(fmt::format("the filter of table '{}' is no expression: {}", table.name,
                              outcomes[k].error),
                  fmt::format("evaluated was: {}", texts[k]), table.place);
    if (outcomes[k].value == "True")
      kept.push_back(std::move(rows[k]));
  }
  rows = std::move(kept);
}

/// Says in words what a missing value of a row that did not work out means.
void explain_missing(Row& row) {
  const std::string reason = row.rows->absence(row.head);
  for (Cell& cell : row.cells)
    if (!cell.value && (cell.absent_reason.empty() || !reason.empty()))
      cell.absent_reason = reason;
}

result::Table fill(const Run& run, const model::Table& wanted, const std::vector<Rows>& analysers) {
  result::Table table{.name = wanted.name,
                      .headings = {},
                      .rows = {},
                      .separator = wanted.separator,
                      .transpose = wanted.transpose,
                      .notes = {}};
  for (const model::Column& column : wanted.columns)
    table.headings.push_back({.title = column.title.empty() ? column.name : column.title,
                              .unit = unit_of(run.benchmark, column.name),
                              .minimum_width = column.minimum_width,
                              .place = column.place});
  std::vector<Row> rows;
  for (const Rows& analyser : analysers)
    for (const long long head : analyser.heads()) {
      Row row{.rows = &analyser, .head = head, .cells = {}};
      for (const model::Column& column : wanted.columns) {
        Cell cell = analyser.cell(head, column.name);
        cell.format = column.format;
        row.cells.push_back(std::move(cell));
      }
      // One without any value is nothing to see, unless that is what its failure looks like.
      if (!is_empty(row) || !analyser.absence(head).empty())
        rows.push_back(std::move(row));
    }
  filter_rows(rows, wanted);
  sort_rows(rows, wanted.sort);
  for (Row& row : rows) {
    explain_missing(row);
    table.rows.push_back(std::move(row.cells));
  }
  return table;
}

}  // namespace

std::vector<FilledTable> report(const Run& run, const workspace::Workspace& workspace,
                                const Analyses& analyses) {
  const auto all = workspace.workpackages();
  std::vector<FilledTable> tables;
  for (const model::Result& result : run.benchmark.results) {
    std::vector<Rows> analysers;
    for (const std::string& name : result.use)
      analysers.emplace_back(run, all, name, analyses.at(name));
    const std::filesystem::path directory =
        result.result_dir.empty() ? run.directory.path / "result"
                                  : std::filesystem::path(run.fact("home")) /
                                        expand_user_and_environment(result.result_dir) /
                                        workspace::padded(run.directory.id);
    for (const model::Table& table : result.tables)
      tables.push_back({fill(run, table, analysers), table.style, directory});
  }
  return tables;
}

}  // namespace bench::engine
