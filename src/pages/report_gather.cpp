#include "figure_plan.hpp"
#include "figure_source.hpp"
#include "meter_files.hpp"
#include "power_figure.hpp"
#include "report_sheet.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/pages/figure.hpp>
#include <bench/pages/report_gather.hpp>
#include <bench/pages/report_page.hpp>
#include <bench/results/arrange.hpp>
#include <bench/results/table.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::pages {
namespace {

using results::Cell;
using results::Table;

/// Whether a name denotes a parameter.
using IsParameter = std::function<bool(const std::string& name)>;

std::optional<std::size_t> column_of(const Table& table, const std::string& name) {
  const auto found = std::ranges::find(table.headings, name, &results::Heading::name);
  if (found == table.headings.end())
    return std::nullopt;
  return static_cast<std::size_t>(found - table.headings.begin());
}

std::string text_at(const std::vector<Cell>& row, std::optional<std::size_t> column) {
  return column && row[*column].value ? to_text(*row[*column].value) : "";
}

/// Columns of a tidy table that only identify a workpackage.
bool is_number_of_row(const results::Heading& heading) {
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

std::vector<Figure> default_figures(const Source& source) {
  std::vector<Figure> figures;
  for (const Plan& plan : default_plans(source))
    figures.push_back(draw(source, plan));
  return figures;
}

/// The figures that the input file requests for a table, or those that `default_plans` chooses.
/// @param is_distribution the last two columns are values and their shares
std::vector<Figure> figures_of(const Table& table, const IsParameter& is_parameter,
                               std::span<const model::Figure> asked, bool is_distribution) {
  Source source = source_of(table, is_parameter);
  source.is_distribution = is_distribution;
  std::vector<Figure> figures;
  for (const model::Figure& figure : asked)
    figures.push_back(draw(source, asked_plan(source, figure)));
  return asked.empty() ? default_figures(source) : figures;
}

/// The figures of a tidy table: for each step, from the columns in which it has values.
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

/// Figures of measured beside published numbers, one for each metric of a table from `bench result
/// --compare`.
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

/// The first columns of a table of several runs; figures treat them as parameters.
constexpr const char* run_column = "run";
constexpr const char* platform_column = "platform";
constexpr const char* outpath_column = "outpath";  ///< Of a tidy table.

/// Whether a table of the benchmark shows the distribution of a pattern.
bool is_distribution(const model::Benchmark& benchmark, const std::string& table) {
  for (const model::Result& result : benchmark.results)
    for (const model::Table& one : result.tables)
      if (one.name == table)
        return !one.cdf.empty();
  return false;
}

std::vector<model::Figure> asked_of(const model::Benchmark& benchmark, const std::string& table) {
  std::vector<model::Figure> asked;
  for (const model::Result& result : benchmark.results)
    std::ranges::copy_if(result.figures, std::back_inserter(asked),
                         [&](const model::Figure& figure) { return figure.table == table; });
  return asked;
}

bool differ(const std::vector<std::string>& texts) {
  return std::set<std::string>(texts.begin(), texts.end()).size() > 1;
}

}  // namespace

void Gatherer::add(const space::Run& run, const workspace::Workspace& workspace,
                   std::vector<results::Table> tables, std::vector<results::Table> compared,
                   Diagnostics& diagnostics) {
  RunSheet sheet = sheet_of(run, workspace);
  const std::string name = sheet.name;
  for (int n = 2; std::ranges::count(sheets_, sheet.name, &RunSheet::name) > 0; ++n)
    sheet.name = fmt::format("{} ({})", name, n);
  sheets_.push_back(std::move(sheet));
  ids_.push_back(run.directory.id);
  platforms_.push_back(run.metadata.platform);
  const model::Benchmark& benchmark = run.benchmark;
  if (std::ranges::find(benchmarks_, benchmark.name) == benchmarks_.end())
    benchmarks_.push_back(benchmark.name);
  if (comment_.empty())
    comment_ = run.metadata.comment.empty() ? benchmark.comment : run.metadata.comment;
  for (const model::ParameterSet& set : benchmark.parameter_sets)
    for (const model::Parameter& parameter : set.parameters) {
      parameters_.insert(parameter.name);
      for (const model::Step& step : benchmark.steps)
        parameters_.insert(parameter.name + "_" + step.name);
    }
  pages::add_failures(sheets_.back().name, workspace, failures_);
  PowerFigure power = power_figure(run, workspace);
  std::vector<std::string> damaged;
  for (const Warning& warning : power.warnings) {
    damaged.push_back(note_of(run.directory.path, warning));
    diagnostics.warn(warning);
  }
  if (!damaged.empty())
    sheets_.back().facts.emplace_back("damaged files", join(damaged, "\n"));
  if (power.figure)
    power_.emplace_back(sheets_.size() - 1, std::move(*power.figure));
  for (results::Table& table : tables) {
    TableGroup& gathered = group_of(table, benchmark.name);
    gathered.is_distribution = is_distribution(benchmark, table.name);
    gathered.asked = asked_of(benchmark, table.name);  // the newest run decides
    gathered.members.push_back({sheets_.size() - 1, std::move(table)});
  }
  for (results::Table& table : compared) {
    table.name += " beside published numbers";
    TableGroup& gathered = group_of(table, benchmark.name);
    gathered.is_comparison = true;
    gathered.members.push_back({sheets_.size() - 1, std::move(table)});
  }
}

Gatherer::TableGroup& Gatherer::group_of(const results::Table& table,
                                         const std::string& benchmark) {
  bool is_known = false;
  for (TableGroup& group : tables_) {
    if (group.name != table.name)
      continue;
    is_known = true;
    if (group.benchmark == benchmark ||
        std::ranges::equal(group.members.front().table.headings, table.headings, {},
                           &results::Heading::title, &results::Heading::title))
      return group;
  }
  return tables_.emplace_back(
      TableGroup{.name = table.name,
                 .title = is_known ? fmt::format("{} of {}", table.name, benchmark) : table.name,
                 .benchmark = benchmark,
                 .members = {},
                 .asked = {}});
}

results::Table Gatherer::united(const TableGroup& gathered) const {
  if (sheets_.size() == 1)
    return gathered.members.front().table;
  std::vector<results::RunTable> tables;
  for (const Member& member : gathered.members)
    tables.push_back({static_cast<long long>(member.run), member.table});
  results::Table table = results::combine(tables, false);
  table.headings.front() = {.title = run_column, .unit = "", .place = {}, .name = run_column};
  const bool platforms_differ = differ(platforms_);
  if (platforms_differ)
    table.headings.insert(
        table.headings.begin(),
        {.title = platform_column, .unit = "", .place = {}, .name = platform_column});
  for (auto& row : table.rows) {
    const auto run = static_cast<std::size_t>(std::get<long long>(*row.front().value));
    row.front() = {.value = sheets_[run].name};
    if (platforms_differ)
      row.insert(row.begin(), {.value = platforms_[run].empty() ? "local" : platforms_[run]});
  }
  for (results::RowSource& source : table.sources)
    if (source.run)
      source.run = ids_[static_cast<std::size_t>(*source.run)];
  return table;
}

Page Gatherer::build(const std::string& title) const {
  Page page;
  page.title = title.empty() ? join(benchmarks_, ", ") : title;
  page.comment = comment_;
  page.runs = sheets_;
  page.failures = failures_;
  const IsParameter is_parameter = [&](const std::string& name) {
    return parameters_.contains(name) ||
           (sheets_.size() > 1 &&
            (name == run_column || name == platform_column || name == outpath_column));
  };
  const auto add = [&](std::vector<Figure> figures) {
    std::ranges::move(figures, std::back_inserter(page.figures));
  };
  for (const TableGroup& gathered : tables_) {
    results::Table table = united(gathered);
    if (gathered.is_comparison)
      add(figures_of_comparison(table));
    else
      add(figures_of(table, is_parameter, gathered.asked, gathered.is_distribution));
    page.tables.push_back({std::move(table), gathered.title});
  }
  if (tidy_) {
    add(figures_of_steps(*tidy_, is_parameter));
    page.tables.push_back({*tidy_, "all workpackages"});
  }
  for (const auto& [run, power] : power_) {
    page.figures.push_back(power);
    if (sheets_.size() > 1)
      page.figures.back().title += " of " + sheets_[run].name;
  }
  make_ids_unique(page.figures);
  return page;
}

}  // namespace bench::pages
