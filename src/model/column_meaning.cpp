#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <bench/base/unit.hpp>
#include <bench/base/value.hpp>
#include <bench/energy/core/figures.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/column_meaning.hpp>
#include <bench/numbers/statistics.hpp>

namespace bench::model {
namespace {

using numbers::Statistic;

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

}  // namespace bench::model
