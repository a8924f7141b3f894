#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/insight/past_runs.hpp>
#include <bench/insight/plan.hpp>
#include <bench/insight/work.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/reals.hpp>
#include <bench/results/table.hpp>
#include <bench/run/preview.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {
namespace {

using results::Cell;
using results::text_cell;

constexpr double seconds_per_hour = 3600;

/// Why a point cannot fit; empty if it may fit.
std::string misfit_reason_of(const PlannedPoint& point, const Estimate& memory) {
  if (point.each.ran_out_of_memory)
    return "ran out of memory in an earlier run";
  if (point.work.memory_gb && memory.value && *point.work.memory_gb > *memory.value)
    return fmt::format("needs at least {:.1f} GB, a device has {:g} GB", *point.work.memory_gb,
                       *memory.value);
  return "";
}

/// Uses peaks where the history has no data.
void take_peaks(PlannedPoint& point, const machine::Platform& platform, double efficiency) {
  const Prediction by_peak = predict_by_peak(point.work, platform, efficiency);
  const auto take = [](Estimate& estimate, const Estimate& other, bool has_program) {
    if (!estimate.value && (other.value || has_program))
      estimate = other;
  };
  const bool measured = point.each.time_s.value.has_value();
  take(point.each.time_s, by_peak.time_s, point.work.flops.has_value());
  // A peak-based energy would not match a measured time.
  if (!measured)
    take(point.each.energy_wh, by_peak.energy_wh, point.work.flops.has_value());
}

/// A quantity per operation at the points of a step.
class Rates {
 public:
  void add(const Estimate& estimate, double flops) {
    if (estimate.value)
      (estimate.measured ? measured_ : modelled_).push_back(*estimate.value / flops);
  }

  /// Fills in what is unknown: from measured points if there are any, otherwise from those that a
  /// model predicts.
  void scale(Estimate& estimate, double flops) const {
    const std::vector<double>& rates = measured_.empty() ? modelled_ : measured_;
    if (estimate.value || rates.empty())
      return;
    estimate = {
        numbers::median(rates) * flops,
        fmt::format("by its work, from {} {} point{}", rates.size(),
                    measured_.empty() ? "modelled" : "measured", rates.size() == 1 ? "" : "s")};
  }

 private:
  std::vector<double> measured_;
  std::vector<double> modelled_;
};

/// If the history has points of a step but no model for another, assumes the same time per
/// operation. This includes the start-up, so small points take slightly longer.
void scale_by_work(std::vector<PlannedPoint>& points) {
  std::map<std::pair<std::string, int>, std::pair<Rates, Rates>> known;  // by step and devices
  const auto for_each_with_work = [&](const auto& action) {
    for (PlannedPoint& point : points)
      if (point.work.flops && *point.work.flops > 0) {
        auto& [time, energy] = known[{point.step, point.work.devices}];
        action(point.each, *point.work.flops, time, energy);
      }
  };
  for_each_with_work([](const Prediction& each, double flops, Rates& time, Rates& energy) {
    time.add(each.time_s, flops);
    energy.add(each.energy_wh, flops);
  });
  for_each_with_work([](Prediction& each, double flops, const Rates& time, const Rates& energy) {
    time.scale(each.time_s, flops);
    energy.scale(each.energy_wh, flops);
  });
}

/// The text and the unit of a pattern.
struct Factor {
  std::string text;
  std::string unit;
};
using Factors = std::map<std::string, Factor>;

/// Reads a factor file structurally: a map with `name` and `_` is a pattern.
void read_patterns(const document::Node& node, Factors& factors) {
  const document::Node* name = node.first("name");
  const document::Node* text = node.first("_");
  if (name && text) {
    const document::Node* unit = node.first("unit");
    factors.try_emplace(
        std::string(strip(name->text)),
        Factor{std::string(strip(text->text)), unit ? std::string(strip(unit->text)) : ""});
  }
  for (const document::Node& child : node.children)
    read_patterns(child, factors);
}

/// Nothing if the file lacks it. @throws Error if it is not a number
std::optional<double> number_of(const Factors& factors, const std::string& name) {
  const auto found = factors.find(name);
  if (found == factors.end())
    return std::nullopt;
  const auto number = parse_number(found->second.text);
  if (!number || !std::isfinite(*number))
    throw Error(Id::invalid_value,
                fmt::format("the factor {} is not a number: '{}'", name, found->second.text),
                "plans evaluate no expressions: write the number itself");
  return number;
}

/// @throws Error if the factor has a different unit
void check_unit(const Factors& factors, const std::string& name, const std::string& begin,
                const std::string& end) {
  const auto found = factors.find(name);
  if (found == factors.end() || found->second.unit.empty())
    return;
  const std::string& unit = found->second.unit;
  if (!unit.starts_with(begin) || !unit.ends_with(end))
    throw Error(Id::invalid_value, fmt::format("the factor {} is in {}", name, unit),
                fmt::format("state it per kWh{}", begin.empty() ? "" : ", in " + begin + end));
}

std::optional<double> median_or_nothing(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(numbers::median(values));
}

PlanError error_of(const std::vector<CheckedPoint>& points,
                   std::optional<double> CheckedPoint::*measured, Estimate Prediction::*planned) {
  PlanError error;
  std::vector<double> errors;
  for (const CheckedPoint& point : points)
    if (point.*measured) {
      ++error.points;
      if (const std::optional<double>& value = (point.planned.*planned).value)
        errors.push_back(std::abs(*value / *(point.*measured) - 1));
    }
  error.planned = errors.size();
  if (!errors.empty()) {
    error.median = numbers::median(errors);
    error.largest = std::ranges::max(errors);
  }
  return error;
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

results::Table empty_table(const std::string& name, const Names& names) {
  results::Table table;
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

/// A column of the plan, and whether it is useful to people.
struct PlanColumn {
  results::Heading heading;
  Cell (*cell)(const PlannedPoint& point);
  bool (*is_needed)(const std::vector<PlannedPoint>& points) = nullptr;  ///< Null: always.
};

bool has_programs(const std::vector<PlannedPoint>& points) {
  return std::ranges::any_of(points, [](const auto& one) { return !one.work.program.empty(); });
}

const std::vector<PlanColumn>& plan_columns() {
  static const std::vector<PlanColumn> columns{
      {{.title = "workpackages"},
       [](const PlannedPoint& point) { return results::count_cell(point.workpackages); }},
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

std::optional<double> PlannedPoint::node_hours() const {
  if (!each.time_s.value)
    return std::nullopt;
  return static_cast<double>(workpackages) * nodes * *each.time_s.value / seconds_per_hour;
}

std::optional<double> PlannedPoint::energy_wh() const {
  if (!each.energy_wh.value)
    return std::nullopt;
  return static_cast<double>(workpackages) * *each.energy_wh.value;
}

std::vector<PlannedPoint> plan_points(const space::Run& run,
                                      const std::vector<run::Preview>& previews,
                                      const History& history, double efficiency,
                                      const std::function<void(const std::string&)>& asking) {
  std::vector<PlannedPoint> points;
  std::map<std::pair<std::string, long long>, std::size_t> known;
  const Estimate memory = device_memory_gb(run.platform);
  Describer describer(asking);
  std::vector<const workspace::Workpackage*> workpackages;
  for (const run::Preview& one : previews)
    workpackages.push_back(&one.workpackage);
  const PointNames names(run.benchmark, workpackages);
  for (const run::Preview& one : previews) {
    const std::string& step = one.workpackage.step;
    const auto [found, is_new] =
        known.try_emplace({step, one.workpackage.combination}, points.size());
    if (!is_new) {
      ++points[found->second].workpackages;
      continue;
    }
    PlannedPoint& point = points.emplace_back();
    point.step = step;
    point.parameters = names.of(one.workpackage);
    point.workpackages = 1;
    const bool is_job = run.benchmark.step(step)->batch.has_value();
    point.nodes = is_job ? one.request.resources.nodes : 1;
    point.work = describer.describe(one.texts, is_job ? one.request.resources.tasks() : 1);
    point.each = history.predict(step, point.parameters);
    point.misfit_reason = misfit_reason_of(point, memory);
  }
  scale_by_work(points);
  for (PlannedPoint& point : points)
    take_peaks(point, run.platform, efficiency);
  return points;
}

Total total_of(const std::vector<PlannedPoint>& points) {
  Total total;
  for (const PlannedPoint& point : points) {
    if (!point.misfit_reason.empty()) {
      total.cannot_fit += point.workpackages;
      continue;
    }
    total.workpackages += point.workpackages;
    total.node_hours += point.node_hours().value_or(0);
    total.energy_wh += point.energy_wh().value_or(0);
    total.without_time += point.node_hours() ? 0 : point.workpackages;
    total.without_energy += point.energy_wh() ? 0 : point.workpackages;
  }
  return total;
}

Budget parse_budget(const std::string& text, const machine::Platform& platform) {
  constexpr std::pair<std::string_view, double> units[] = {
      {"kWh", 1e3}, {"MWh", 1e6}, {"Wh", 1}};  // the longer ones first
  for (const auto& [unit, factor] : units) {
    if (!text.ends_with(unit))
      continue;
    const auto number =
        parse_number(strip(std::string_view(text).substr(0, text.size() - unit.size())));
    if (!number || !(*number > 0) || !std::isfinite(*number))
      throw Error(Id::invalid_value, fmt::format("invalid budget '{}'", text),
                  "use node hours or energy: 50nh, 500Wh, 2kWh");
    return {text, std::nullopt, *number * factor};
  }
  return {text, space::parse_budget_h(text, platform), std::nullopt};
}

Affordable affordable(const std::vector<PlannedPoint>& points, const Budget& budget) {
  Affordable result;
  double left = budget.node_hours ? *budget.node_hours : budget.energy_wh.value_or(0);
  for (const PlannedPoint& point : points) {
    if (!point.misfit_reason.empty())
      continue;
    const auto cost = budget.node_hours ? point.node_hours() : point.energy_wh();
    if (!cost) {
      result.stop =
          fmt::format("the {} of the next one is unknown", budget.node_hours ? "time" : "energy");
      return result;
    }
    const double one = *cost / static_cast<double>(point.workpackages);
    for (std::size_t k = 0; k < point.workpackages; ++k) {
      // A sum of shares may exceed the whole by rounding.
      if (one > left * (1 + 1e-9)) {
        result.stop = "the next one would exceed it";
        return result;
      }
      left -= one;
      ++result.workpackages;
    }
  }
  return result;
}

CostFactors read_cost_factors(const std::filesystem::path& file) {
  Factors patterns;
  read_patterns(document::read_plain_file(file), patterns);
  check_unit(patterns, "price", "", "/kWh");
  check_unit(patterns, "intensity", "g", "/kWh");
  CostFactors factors{.pue = number_of(patterns, "pue").value_or(1),
                      .price = number_of(patterns, "price"),
                      .currency = split(patterns["price"].unit, "/").front(),
                      .intensity = number_of(patterns, "intensity")};
  if (factors.pue < 1)
    throw Error(Id::invalid_value, fmt::format("the factor pue is {:g}", factors.pue),
                "a PUE is at least 1");
  if (!factors.price && !factors.intensity)
    throw Error(Id::missing_key,
                fmt::format("{} has neither a price nor an intensity", file.string()),
                "it needs patterns `price` (per kWh) or `intensity` (g/kWh) with numbers");
  return factors;
}

std::vector<CheckedPoint> check_points(const std::vector<Observation>& run,
                                       const History& history) {
  struct Measured {
    std::vector<double> times_s;
    std::vector<double> energies_wh;
  };
  std::vector<CheckedPoint> points;
  std::vector<Measured> measured;
  std::map<std::pair<std::string, workspace::Parameters>, std::size_t> known;
  for (const Observation& one : run) {
    if (one.out_of_memory)
      continue;
    const auto [found, is_new] = known.try_emplace({one.step, one.parameters}, points.size());
    if (is_new) {
      points.push_back(
          {one.step, one.parameters, history.predict(one.step, one.parameters), {}, {}, false});
      measured.emplace_back();
    }
    Measured& values = measured[found->second];
    points[found->second].disturbed |= one.disturbed;
    if (one.time_s && *one.time_s > 0)
      values.times_s.push_back(*one.time_s);
    if (one.energy_wh && *one.energy_wh > 0)
      values.energies_wh.push_back(*one.energy_wh);
  }
  for (std::size_t k = 0; k < points.size(); ++k) {
    points[k].time_s = median_or_nothing(measured[k].times_s);
    points[k].energy_wh = median_or_nothing(measured[k].energies_wh);
  }
  return points;
}

PlanError error_of_time(const std::vector<CheckedPoint>& points) {
  return error_of(points, &CheckedPoint::time_s, &Prediction::time_s);
}

PlanError error_of_energy(const std::vector<CheckedPoint>& points) {
  return error_of(points, &CheckedPoint::energy_wh, &Prediction::energy_wh);
}

results::Table table_of(const std::vector<PlannedPoint>& points, bool all_columns) {
  const Names names = names_of(points, all_columns);
  results::Table table = empty_table("plan", names);
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

results::Table table_of(const std::vector<CheckedPoint>& points, bool all_columns) {
  const Names names = names_of(points, all_columns);
  results::Table table = empty_table("plan_check", names);
  const std::vector<results::Heading> headings{{.title = "planned time", .unit = "s"},
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

}  // namespace bench::insight
