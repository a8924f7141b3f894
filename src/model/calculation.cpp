#include "check.hpp"
#include "columns.hpp"
#include "read.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unit.hpp>
#include <bench/base/value.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/calculate.hpp>
#include <bench/numbers/calculation.hpp>

namespace bench::model {

using document::Node;

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
