#include "check.hpp"
#include "read.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unit.hpp>
#include <bench/base/value.hpp>
#include <bench/document/node.hpp>
#include <bench/energy/core/figures.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/columns.hpp>
#include <bench/numbers/calculation.hpp>
#include <bench/numbers/statistics.hpp>

namespace bench::model {
namespace {

using document::Node;
using numbers::Statistic;

/// The steps whose parameters a row of this analyser can show: the analysed ones and what they
/// depend on.
void collect_steps(const Benchmark& benchmark, const std::string& name,
                   std::set<std::string>& steps) {
  if (!steps.insert(name).second)
    return;
  for (const std::string& parent : benchmark.step(name)->depend)
    collect_steps(benchmark, parent, steps);
}

void add_patterns(const Benchmark& benchmark, const Analyser& analyser,
                  std::set<std::string>& names) {
  for (const std::string& set : analyser.pattern_sets())
    for (const Pattern& pattern : benchmark.pattern_set(set)->patterns)
      for (const auto& statistic : numbers::statistics())
        names.insert(pattern.name + std::string(statistic.suffix));
}

bool measures_energy(const Benchmark& benchmark) {
  return std::any_of(benchmark.steps.begin(), benchmark.steps.end(),
                     [](const Step& step) { return step.energy.has_value(); });
}

bool is_of_meter(std::string_view name) {
  const energy::Figure* const figure = energy::figure_of(numbers::without_suffix(name));
  return figure && figure->is_value();
}

/// The parameters that a step has, inherited ones too, also by the step's name.
void add_parameters(const Benchmark& benchmark, const std::string& step,
                    std::set<std::string>& names) {
  for (const std::string& name : parameter_names(benchmark, *benchmark.step(step))) {
    names.insert(name);
    names.insert(name + "_" + step);
  }
}

std::string unit_of(const Statistic& statistic, const std::string& unit) {
  if (statistic.has_unit)
    return unit;
  return statistic.suffix == "_sum2" ? unit::Unit(unit).to_the_power(2).text() : "";
}

std::optional<ColumnMeaning> as_pattern(const PatternSet& set, const std::string& name) {
  for (const Pattern& pattern : set.patterns) {
    if (!name.starts_with(pattern.name))
      continue;
    const std::string_view rest = std::string_view(name).substr(pattern.name.size());
    const auto all = numbers::statistics();
    const auto statistic = std::ranges::find(all, rest, &Statistic::suffix);
    if (statistic != all.end() && (rest.empty() || !pattern.derived))
      return ColumnMeaning{.unit = statistic->has_unit ? pattern.unit : "",
                           .type = statistic->has_type ? pattern.type : ValueType::string,
                           .unit_of_values = unit_of(*statistic, pattern.unit),
                           .has_statistics = rest.empty() && !pattern.derived};
  }
  return std::nullopt;
}

std::optional<ColumnMeaning> as_pattern(const Benchmark& benchmark, const Result& result,
                                        const std::string& name) {
  std::set<std::string> used;
  for (const std::string& analyser : result.use)
    used.merge(benchmark.analyser(analyser)->pattern_sets());
  for (const bool wanted : {true, false})
    for (const PatternSet& set : benchmark.pattern_sets)
      if (used.contains(set.name) == wanted)
        if (auto meaning = as_pattern(set, name))
          return meaning;
  return std::nullopt;
}

std::optional<ColumnMeaning> as_parameter(const Benchmark& benchmark, const std::string& name) {
  const auto is_in_step = [&](const Parameter& parameter) {
    return std::any_of(benchmark.steps.begin(), benchmark.steps.end(),
                       [&](const Step& step) { return name == parameter.name + "_" + step.name; });
  };
  for (const bool exact : {true, false})
    for (const ParameterSet& set : benchmark.parameter_sets)
      for (const Parameter& parameter : set.parameters)
        if (exact ? parameter.name == name : is_in_step(parameter))
          return ColumnMeaning{.unit = exact ? parameter.unit : "",
                               .type = parameter.type,
                               .unit_of_values = parameter.unit};
  return std::nullopt;
}

std::string unit_of_platform(std::string_view name) {
  if (!name.starts_with("jube_platform_"))
    return "";
  return name.ends_with("_tflops") ? "TFLOP/s" : name.ends_with("_gb") ? "GB" : "";
}

/// What the meter's names end in says their unit.
std::string unit_of_meter_value(std::string_view name) {
  constexpr std::array<std::string_view, 4> beginnings{"energy_", "power_", "duration_",
                                                       "machine_"};
  if (std::ranges::none_of(beginnings, [&](auto begin) { return name.starts_with(begin); }))
    return "";
  if (const Statistic* statistic = numbers::statistic_of(name)) {
    if (!statistic->has_unit)
      return "";
    name.remove_suffix(statistic->suffix.size());
  }
  return energy::unit_of(name);
}

}  // namespace

Fillable::Fillable(const Benchmark& benchmark, const std::vector<std::string>& use)
    : energy_(measures_energy(benchmark)) {
  std::set<std::string> steps;
  for (const std::string& analyser_name : use) {
    const Analyser& analyser = *benchmark.analyser(analyser_name);
    add_patterns(benchmark, analyser, names_);
    for (const Analysis& analysis : analyser.analyses)
      collect_steps(benchmark, analysis.step, steps);
  }
  for (const std::string& step : steps)
    add_parameters(benchmark, step, names_);
  if (energy_)
    for (const energy::Figure& figure : energy::figures())
      if (figure.is_value() && figure.has_fixed_name())
        for (const auto& statistic : numbers::statistics())
          names_.insert(std::string(figure.name) + std::string(statistic.suffix));
}

bool Fillable::contains(const std::string& name) const {
  return names_.contains(name) || name.starts_with("jube_") || (energy_ && is_of_meter(name));
}

std::string Fillable::near(const std::string& name) const {
  constexpr std::array<std::pair<std::string_view, const char*>, 8> usual{{{"_mean", "_avg"},
                                                                           {"_average", "_avg"},
                                                                           {"_stdev", "_std"},
                                                                           {"_stddev", "_std"},
                                                                           {"_count", "_cnt"},
                                                                           {"_minimum", "_min"},
                                                                           {"_maximum", "_max"},
                                                                           {"_total", "_sum"}}};
  for (const auto& [other, own] : usual)
    if (const auto base = name.size() - std::min(name.size(), other.size());
        name.ends_with(other) && names_.contains(name.substr(0, base) + own))
      return fmt::format("did you mean '{}'?", name.substr(0, base) + own);
  return did_you_mean(name, std::vector<std::string>(names_.begin(), names_.end()));
}

void check_columns(const Benchmark& benchmark, Diagnostics& diagnostics) {
  for (const Result& result : benchmark.results) {
    const Fillable names(benchmark, result.use);
    const auto check_all = [&](const auto& columns, const char* what) {
      for (const auto& column : columns)
        if (!column.calculation && !names.contains(column.name))
          diagnostics.unknown_name(
              fmt::format("{} '{}' is not a parameter or pattern of this result", what,
                          column.name),
              names.near(column.name), "", column.place);
    };
    const auto check_sort = [&](const auto& one, const auto& columns, const char* what) {
      for (const std::string& name : one.sort)
        if (!names.contains(name) && !is_calculated(columns, name))
          diagnostics.unknown_name(
              fmt::format(
                  "{} '{}' is sorted by '{}', which is not a parameter or pattern of this result",
                  what, one.name, name),
              names.near(name), "", one.place);
    };
    for (const Table& table : result.tables) {
      check_all(table.columns, "column");
      check_sort(table, table.columns, "table");
      if (table.columns.empty())
        diagnostics.warn(Id::no_effect, fmt::format("table '{}' has no column", table.name),
                         "add `column: [...]` with names of parameters and patterns", table.place);
    }
    for (const Syslog& syslog : result.syslogs) {
      check_all(syslog.keys, "key");
      check_sort(syslog, syslog.keys, "syslog");
    }
    for (const Database& database : result.databases)
      check_all(database.keys, "key");
  }
}

ColumnMeaning meaning_of(const Benchmark& benchmark, const Result& result,
                         const std::string& name) {
  if (const auto meaning = as_pattern(benchmark, result, name))
    return *meaning;
  if (const auto meaning = as_parameter(benchmark, name))
    return *meaning;
  const std::string unit = unit_of_meter_value(name);
  if (unit.empty())
    return {.unit_of_values = unit_of_platform(name)};
  return {.unit = unit,
          .type = ValueType::real,
          .unit_of_values = unit,
          .has_statistics = !numbers::statistic_of(name)};
}

namespace {

std::vector<std::pair<std::string, std::string>> baseline_of(const Node& node) {
  std::vector<std::pair<std::string, std::string>> baseline;
  for (const std::string& one : split_escaped(attribute(node, "baseline"))) {
    const auto sign = one.find('=');
    if (sign == std::string::npos || sign == 0)
      throw Error(Id::invalid_value, fmt::format("baseline must be NAME=VALUE, not '{}'", one),
                  "write `baseline: {nodes: 1}`, in XML baseline=\"nodes=1\"",
                  place_of(node, "baseline"));
    baseline.emplace_back(strip(std::string_view(one).substr(0, sign)),
                          strip(std::string_view(one).substr(sign + 1)));
  }
  return baseline;
}

void refuse_without(const Node& node, const char* attribute_name, const char* needed) {
  if (node.find(attribute_name))
    throw Error(Id::missing_key,
                fmt::format("`{}` needs {} in the same {}", attribute_name, needed, node.name), "",
                place_of(node, attribute_name));
}

/// @throws Error if rows of the result cannot have a value of this name
void require(const Fillable& names, const std::string& name, const Place& place) {
  if (!names.contains(name))
    throw Error(Id::unknown_name,
                fmt::format("'{}' is not a parameter or pattern of this result", name),
                names.near(name), place);
}

void require_numbers(const std::string& name, const ColumnMeaning& meaning, const Place& place) {
  if (meaning.has_statistics && meaning.type == ValueType::string)
    throw Error(Id::invalid_value,
                fmt::format("pattern '{}' has type string, and a calculation needs numbers", name),
                "add `type: float` to the pattern", place);
}

/// @throws Error unless it is a pattern that may have several values
void require_values(const std::string& name, const ColumnMeaning& meaning, const Place& place) {
  require_numbers(name, meaning, place);
  if (!meaning.has_statistics)
    throw Error(
        Id::invalid_value,
        fmt::format("'{}' has no distribution: it is not a pattern with several values", name),
        "name a pattern that is searched in files, without a statistic behind it", place);
}

void check_cdf(const Benchmark& benchmark, const Result& result, const Table& table) {
  if (table.cdf.empty())
    return;
  require(Fillable(benchmark, result.use), table.cdf, table.cdf_place);
  require_values(table.cdf, meaning_of(benchmark, result, table.cdf), table.cdf_place);
}

template <class Columns>
void check_all(const Benchmark& benchmark, const Result& result, const Columns& columns) {
  for (const auto& column : columns)
    if (column.calculation)
      calculation_of(benchmark, result, *column.calculation, column.unit, column.unit_place);
    else if (!column.unit.empty())
      factor_to(column.unit, column.unit_place, column.name,
                meaning_of(benchmark, result, column.name));
}

}  // namespace

std::optional<Calculation> build_calculation(const Node& node) {
  Calculation calculation;
  calculation.metric = attribute(node, "metric");
  calculation.formula = attribute(node, "formula");
  if (calculation.metric.empty())
    refuse_without(node, "of", "`metric`");
  if (calculation.metric.empty() && calculation.formula.empty()) {
    refuse_without(node, "baseline", "`metric` or `formula`");
    refuse_without(node, "per", "`metric` or `formula`");
    return std::nullopt;
  }
  calculation.place = place_of(node, calculation.metric.empty() ? "formula" : "metric");
  if (!calculation.metric.empty() && !calculation.formula.empty())
    throw Error(Id::conflict, fmt::format("this {} has a metric and a formula", node.name),
                "remove one of them", calculation.place);
  if (!strip(node.text).empty())
    throw Error(
        Id::conflict,
        fmt::format("this {} calculates its values, and names '{}'", node.name, strip(node.text)),
        "its heading is `title: ...`", node.text_place);
  calculation.of = split_names(attribute(node, "of"));
  calculation.baseline = baseline_of(node);
  calculation.per = split_names(attribute(node, "per"));
  calculation.of_place = node.find("of") ? place_of(node, "of") : calculation.place;
  calculation.baseline_place = place_of(node, "baseline");
  calculation.per_place = place_of(node, "per");
  if (calculation.baseline.empty())
    refuse_without(node, "per", "`baseline`");
  return calculation;
}

std::string calculated_from(const Benchmark& benchmark, const Result& result,
                            const numbers::Calculation::Needed& needed) {
  if (!meaning_of(benchmark, result, needed.name).has_statistics)
    return needed.name;
  return needed.name + (needed.statistic.empty() ? "_median" : std::string(needed.statistic));
}

std::string ordered_name(const std::string& pattern) {
  return pattern + "_ordered";
}

std::vector<std::string> names_for(const Benchmark& benchmark, const Result& result,
                                   const Calculation& calculation) {
  std::vector<std::string> names;
  const numbers::Calculation made = calculation_of(benchmark, result, calculation, "", {});
  for (const auto& needed : made.needed())
    names.push_back(calculated_from(benchmark, result, needed));
  for (const auto& [name, value] : calculation.baseline)
    names.push_back(name);
  names.insert(names.end(), calculation.per.begin(), calculation.per.end());
  return names;
}

numbers::Calculation calculation_of(const Benchmark& benchmark, const Result& result,
                                    const Calculation& calculation, const std::string& unit,
                                    const Place& unit_place) {
  const Fillable names(benchmark, result.use);
  for (const auto& [name, value] : calculation.baseline)
    require(names, name, calculation.baseline_place);
  for (const std::string& name : calculation.per)
    require(names, name, calculation.per_place);
  numbers::Calculation made({.metric = calculation.metric,
                             .of = calculation.of,
                             .formula = calculation.formula,
                             .unit = unit,
                             .has_baseline = !calculation.baseline.empty(),
                             .place = calculation.place,
                             .of_place = calculation.of_place,
                             .unit_place = unit_place},
                            [&](const std::string& name) {
                              require(names, name, calculation.of_place);
                              const ColumnMeaning meaning = meaning_of(benchmark, result, name);
                              require_numbers(name, meaning, calculation.of_place);
                              return unit::Unit(meaning.unit_of_values);
                            });
  for (const auto& [name, statistic] : made.needed())
    if (!statistic.empty())
      require_values(name, meaning_of(benchmark, result, name), calculation.of_place);
  return made;
}

double factor_to(const std::string& unit, const Place& place, const std::string& name,
                 const ColumnMeaning& meaning) {
  if (const auto factor = unit::conversion_factor(meaning.unit_of_values, unit))
    return *factor;
  throw Error(Id::unit_mismatch,
              meaning.unit_of_values.empty()
                  ? fmt::format("'{}' has no unit that can be converted to '{}'", name, unit)
                  : fmt::format("unit '{}' does not fit: '{}' is in {}", unit, name,
                                meaning.unit_of_values),
              meaning.unit_of_values.empty() ? "give its parameter or pattern a `unit`"
                                             : unit::suggestion(unit),
              place);
}

void check_calculations(const Benchmark& benchmark) {
  for (const Result& result : benchmark.results) {
    for (const Table& table : result.tables) {
      check_all(benchmark, result, table.columns);
      check_cdf(benchmark, result, table);
    }
    for (const Syslog& syslog : result.syslogs)
      check_all(benchmark, result, syslog.keys);
    for (const Database& database : result.databases)
      check_all(benchmark, result, database.keys);
  }
}

}  // namespace bench::model
