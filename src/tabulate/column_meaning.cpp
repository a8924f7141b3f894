#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <bench/analyse/meter_names.hpp>
#include <bench/base/value.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/statistics/statistics.hpp>
#include <bench/tabulate/column_meaning.hpp>

namespace bench::tabulate {
namespace {

using statistics::Statistic;

std::optional<ColumnMeaning> as_pattern(const model::PatternSet& set, const std::string& name) {
  for (const model::Pattern& pattern : set.patterns) {
    if (!name.starts_with(pattern.name))
      continue;
    const std::string_view rest = std::string_view(name).substr(pattern.name.size());
    const auto all = statistics::statistics();
    const auto statistic = std::ranges::find(all, rest, &Statistic::suffix);
    if (statistic != all.end() && (rest.empty() || !pattern.derived))
      return ColumnMeaning{.unit = statistic->has_unit ? pattern.unit : "",
                           .type = statistic->has_type ? pattern.type : ValueType::string};
  }
  return std::nullopt;
}

std::optional<ColumnMeaning> as_pattern(const model::Benchmark& benchmark,
                                        const model::Result& result, const std::string& name) {
  std::set<std::string> used;
  for (const std::string& analyser_name : result.use) {
    const model::Analyser& analyser = *benchmark.analyser(analyser_name);
    used.insert(analyser.use.begin(), analyser.use.end());
    for (const model::Analysis& analysis : analyser.analyses)
      for (const model::AnalysedFile& file : analysis.files)
        used.insert(file.use.begin(), file.use.end());
  }
  for (const bool wanted : {true, false})
    for (const model::PatternSet& set : benchmark.pattern_sets)
      if (used.contains(set.name) == wanted)
        if (auto meaning = as_pattern(set, name))
          return meaning;
  return std::nullopt;
}

std::optional<ColumnMeaning> as_parameter(const model::Benchmark& benchmark,
                                          const std::string& name) {
  const auto is_in_step = [&](const model::Parameter& parameter) {
    return std::any_of(
        benchmark.steps.begin(), benchmark.steps.end(),
        [&](const model::Step& step) { return name == parameter.name + "_" + step.name; });
  };
  for (const bool exact : {true, false})
    for (const model::ParameterSet& set : benchmark.parameter_sets)
      for (const model::Parameter& parameter : set.parameters)
        if (exact ? parameter.name == name : is_in_step(parameter))
          return ColumnMeaning{.unit = exact ? parameter.unit : "", .type = parameter.type};
  return std::nullopt;
}

/// What the meter's names end in says their unit.
std::string unit_of_meter_value(std::string_view name) {
  constexpr std::array<std::string_view, 4> beginnings{"energy_", "power_", "duration_",
                                                       "machine_"};
  if (std::ranges::none_of(beginnings, [&](auto begin) { return name.starts_with(begin); }))
    return "";
  if (const Statistic* statistic = statistics::statistic_of(name)) {
    if (!statistic->has_unit)
      return "";
    name.remove_suffix(statistic->suffix.size());
  }
  return analyse::unit_of_meter(name);
}

}  // namespace

ColumnMeaning meaning_of(const model::Benchmark& benchmark, const model::Result& result,
                         const std::string& name) {
  if (const auto meaning = as_pattern(benchmark, result, name))
    return *meaning;
  if (const auto meaning = as_parameter(benchmark, name))
    return *meaning;
  return {.unit = unit_of_meter_value(name)};
}

}  // namespace bench::tabulate
