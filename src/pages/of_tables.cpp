#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/pages/figure.hpp>
#include <bench/pages/of_tables.hpp>
#include <bench/pages/plan.hpp>
#include <bench/pages/source.hpp>
#include <bench/results/table.hpp>

namespace bench::report {
namespace {

using result::Cell;
using result::Table;

std::optional<std::size_t> column_of(const Table& table, const std::string& name) {
  const auto found = std::ranges::find(table.headings, name, &result::Heading::name);
  if (found == table.headings.end())
    return std::nullopt;
  return static_cast<std::size_t>(found - table.headings.begin());
}

std::string text_at(const std::vector<Cell>& row, std::optional<std::size_t> column) {
  return column && row[*column].value ? to_text(*row[*column].value) : "";
}

/// Columns of a tidy table that only identify a workpackage.
bool is_number_of_row(const result::Heading& heading) {
  return heading.name == "workpackage" || heading.name == "iteration";
}

/// The run time measured by bench is worth a figure only if nothing else was measured.
void drop_run_time_beside_others(Source& source) {
  const auto is_value = [](const Column& column) {
    return column.is_numeric && !column.is_parameter && column.name != "run";
  };
  if (std::ranges::count_if(source.columns, is_value) > 1)
    std::erase_if(source.columns, [](const Column& column) { return column.name == "run_time"; });
}

/// The rows of one step, with the columns in which any of them has a value.
Table part_of(const Table& tidy, std::size_t step_column, const std::string& step) {
  Table part;
  part.name = step;
  std::vector<const std::vector<Cell>*> rows;
  for (const auto& row : tidy.rows)
    if (text_at(row, step_column) == step)
      rows.push_back(&row);
  for (std::size_t k = 0; k < tidy.headings.size(); ++k) {
    if (is_number_of_row(tidy.headings[k]) ||
        std::ranges::none_of(rows, [&](const auto* row) { return (*row)[k].value.has_value(); }))
      continue;
    part.headings.push_back(tidy.headings[k]);
    part.rows.resize(rows.size());
    for (std::size_t row = 0; row < rows.size(); ++row)
      part.rows[row].push_back((*rows[row])[k]);
  }
  return part;
}

}  // namespace

namespace {

std::vector<Figure> default_figures(const Source& source) {
  std::vector<Figure> figures;
  for (const Plan& plan : default_plans(source))
    figures.push_back(draw(source, plan));
  return figures;
}

}  // namespace

std::vector<Figure> figures_of(const Table& table, const IsParameter& is_parameter,
                               std::span<const model::Figure> asked, bool is_distribution) {
  Source source = source_of(table, is_parameter);
  source.is_distribution = is_distribution;
  std::vector<Figure> figures;
  for (const model::Figure& figure : asked)
    figures.push_back(draw(source, asked_plan(source, figure)));
  return asked.empty() ? default_figures(source) : figures;
}

std::vector<Figure> figures_of_steps(const Table& tidy, const IsParameter& is_parameter) {
  const auto step_column = column_of(tidy, "step");
  if (!step_column)
    return {};
  std::vector<std::string> steps;
  for (const auto& row : tidy.rows)
    if (const std::string step = text_at(row, step_column);
        std::ranges::find(steps, step) == steps.end())
      steps.push_back(step);
  std::vector<Figure> figures;
  for (const std::string& step : steps) {
    Source source = source_of(part_of(tidy, *step_column, step), is_parameter);
    drop_run_time_beside_others(source);
    std::ranges::move(default_figures(source), std::back_inserter(figures));
  }
  return figures;
}

std::vector<Figure> figures_of_comparison(const Table& compared) {
  const auto column = [&](const char* name) { return column_of(compared, name); };
  const auto [metric, unit, ours, published] =
      std::tuple(column("metric"), column("unit"), column("ours"), column("published"));
  if (!metric || !ours || !published)
    return {};
  std::map<std::pair<std::string, std::string>, Table> tables;
  for (const auto& row : compared.rows) {
    const std::string name = text_at(row, metric);
    Table& table = tables[{name, text_at(row, unit)}];
    table.name = compared.name;
    table.headings = {{.title = "measurement", .unit = "", .place = {}, .name = "measurement"},
                      {.title = "by", .unit = "", .place = {}, .name = "by"},
                      {.title = name, .unit = text_at(row, unit), .place = {}, .name = name}};
    std::vector<std::string> words;
    for (const char* condition : {"workload", "platform", "devices", "batch"})
      if (const std::string word = text_at(row, column(condition)); !word.empty())
        words.push_back(condition == std::string("workload") || condition == std::string("platform")
                            ? word
                            : fmt::format("{} {}", condition, word));
    const Cell label{.value = join(words, ", ")};
    table.rows.push_back({label, {.value = std::string("ours")}, row[*ours]});
    table.rows.push_back({label,
                          {.value = fmt::format("published ({})", text_at(row, column("source")))},
                          row[*published]});
  }
  std::vector<Figure> figures;
  for (const auto& [key, table] : tables) {
    const Source source =
        source_of(table, [&](const std::string& name) { return name != key.first; });
    figures.push_back(draw(source, {.mark = Mark::bar,
                                    .x = 0,
                                    .y = {2},
                                    .color = {1},
                                    .title = key.first + " beside published numbers"}));
  }
  return figures;
}

}  // namespace bench::report
