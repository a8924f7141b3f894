#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/insight/past_runs.hpp>
#include <bench/insight/plan.hpp>
#include <bench/results/table.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::plan {
namespace {

using result::Cell;

Cell text_cell(const std::string& text) {
  return text.empty() ? Cell{.value = ""} : Cell{.value = text};
}

Cell number_cell(const std::optional<double>& number, const std::string& reason = "") {
  if (!number)
    return {.absent_reason = reason};
  return {.value = *number, .format = ".4g"};
}

Cell estimate_cell(const Estimate& estimate) {
  Cell cell = number_cell(estimate.value, estimate.source);
  cell.estimated = estimate.value && estimate.estimated;
  return cell;
}

Cell source_cell(const Estimate& estimate) {
  return text_cell(estimate.value ? estimate.source : "");
}

/// The parameters of a table's points.
struct Names {
  std::vector<std::string> shown;  ///< In order of appearance.
  std::string note;                ///< Note on those that are the same at all points.
};

/// @param all includes those that are the same at all points
template <class Points>
Names names_of(const Points& points, bool all) {
  std::vector<std::string> names;
  for (const auto& point : points)
    for (const auto& [name, value] : point.parameters)
      if (std::ranges::find(names, name) == names.end())
        names.push_back(name);
  Names result;
  std::vector<std::string> constants;
  for (const std::string& name : names) {
    const std::string* first = workspace::value_of(points.front().parameters, name);
    const bool varies = std::ranges::any_of(points, [&](const auto& point) {
      const std::string* value = workspace::value_of(point.parameters, name);
      return !first || !value || *value != *first;
    });
    if (all || varies)
      result.shown.push_back(name);
    else
      constants.push_back(name + "=" + one_line(*first));
  }
  if (!constants.empty())
    result.note = "all points: " + join(constants, " ");
  return result;
}

/// The step and the parameters, the first cells of the rows of both tables.
template <class Point>
std::vector<Cell> first_cells(const Point& point, const std::vector<std::string>& names) {
  std::vector<Cell> row{text_cell(point.step)};
  for (const std::string& name : names) {
    const std::string* value = workspace::value_of(point.parameters, name);
    row.push_back(text_cell(value ? *value : ""));
  }
  return row;
}

result::Table empty_table(const std::string& name, const Names& names) {
  result::Table table;
  table.name = name;
  table.headings.push_back({.title = "step"});
  for (const std::string& parameter : names.shown)
    table.headings.push_back({.title = parameter});
  if (!names.note.empty())
    table.notes.push_back(names.note);
  return table;
}

Cell error_cell(const std::optional<double>& planned, const std::optional<double>& measured) {
  if (!planned || !measured)
    return {.value = ""};
  return {.value = 100 * (*planned / *measured - 1), .format = "+.1f"};
}

}  // namespace

namespace {

/// A column of the plan, and whether it is useful to people.
struct PlanColumn {
  result::Heading heading;
  Cell (*cell)(const PlannedPoint& point);
  bool (*is_needed)(const std::vector<PlannedPoint>& points) = nullptr;  ///< Null: always.
};

bool has_programs(const std::vector<PlannedPoint>& points) {
  return std::ranges::any_of(points, [](const auto& one) { return !one.work.program.empty(); });
}

const std::vector<PlanColumn>& plan_columns() {
  static const std::vector<PlanColumn> columns{
      {{.title = "workpackages"},
       [](const PlannedPoint& point) {
         return Cell{.value = static_cast<long long>(point.workpackages)};
       }},
      {{.title = "work", .unit = "TFLOP"},
       [](const PlannedPoint& point) {
         const auto flops = point.work.flops;
         return number_cell(flops ? std::optional(*flops / 1e12) : std::nullopt,
                            point.work.absent_reason);
       },
       has_programs},
      {{.title = "memory", .unit = "GB"},
       [](const PlannedPoint& point) {
         return number_cell(point.work.memory_gb, point.work.program.empty()
                                                      ? point.work.absent_reason
                                                      : "the step program does not report it");
       },
       has_programs},
      {{.title = "time", .unit = "s"},
       [](const PlannedPoint& point) { return estimate_cell(point.each.time_s); }},
      {{.title = "time from"},
       [](const PlannedPoint& point) { return source_cell(point.each.time_s); }},
      {{.title = "energy", .unit = "Wh"},
       [](const PlannedPoint& point) { return estimate_cell(point.each.energy_wh); }},
      {{.title = "energy from"},
       [](const PlannedPoint& point) { return source_cell(point.each.energy_wh); },
       [](const std::vector<PlannedPoint>& points) {
         return std::ranges::any_of(points, [](const auto& one) {
           return one.each.energy_wh.value && one.each.energy_wh.source != one.each.time_s.source;
         });
       }},
      {{.title = "node_hours"},
       [](const PlannedPoint& point) {
         return number_cell(point.node_hours(), point.each.time_s.source);
       }},
      {{.title = "cannot fit"},
       [](const PlannedPoint& point) { return text_cell(point.misfit_reason); },
       [](const std::vector<PlannedPoint>& points) {
         return std::ranges::any_of(points,
                                    [](const auto& one) { return !one.misfit_reason.empty(); });
       }}};
  return columns;
}

}  // namespace

result::Table table_of(const std::vector<PlannedPoint>& points, bool all_columns) {
  const Names names = names_of(points, all_columns);
  result::Table table = empty_table("plan", names);
  for (const PlannedPoint& point : points)
    table.rows.push_back(first_cells(point, names.shown));
  for (const PlanColumn& column : plan_columns()) {
    if (!all_columns && column.is_needed && !column.is_needed(points))
      continue;
    table.headings.push_back(column.heading);
    for (std::size_t k = 0; k < points.size(); ++k)
      table.rows[k].push_back(column.cell(points[k]));
  }
  if (has_programs(points))
    table.notes.push_back(
        "memory: of each device, at least: weights and gradients in the precision of the training");
  return table;
}

result::Table table_of(const std::vector<CheckedPoint>& points, bool all_columns) {
  const Names names = names_of(points, all_columns);
  result::Table table = empty_table("plan_check", names);
  const std::vector<result::Heading> headings{{.title = "planned time", .unit = "s"},
                                              {.title = "time", .unit = "s"},
                                              {.title = "time error", .unit = "%"},
                                              {.title = "planned energy", .unit = "Wh"},
                                              {.title = "energy", .unit = "Wh"},
                                              {.title = "energy error", .unit = "%"},
                                              {.title = "planned from"}};
  table.headings.insert(table.headings.end(), headings.begin(), headings.end());
  for (const CheckedPoint& point : points) {
    std::vector<Cell> row = first_cells(point, names.shown);
    const std::vector<Cell> cells{estimate_cell(point.planned.time_s),
                                  number_cell(point.time_s, "not measured"),
                                  error_cell(point.planned.time_s.value, point.time_s),
                                  estimate_cell(point.planned.energy_wh),
                                  number_cell(point.energy_wh, "not measured"),
                                  error_cell(point.planned.energy_wh.value, point.energy_wh),
                                  source_cell(point.planned.time_s)};
    row.insert(row.end(), cells.begin(), cells.end());
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace bench::plan
