#include "columns.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/figures.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/use.hpp>
#include <bench/numbers/statistics.hpp>

namespace bench::model {
namespace {

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

}  // namespace bench::model
