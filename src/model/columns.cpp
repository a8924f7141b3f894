#include "check.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/model/use.hpp>

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

constexpr std::array suffixes{"",     "_first", "_last", "_cnt", "_min",
                              "_max", "_sum",   "_avg",  "_std", "_sum2"};

void add_patterns(const Benchmark& benchmark, const std::vector<std::string>& sets,
                  std::set<std::string>& names) {
  for (const std::string& set : sets)
    for (const Pattern& pattern : benchmark.pattern_set(set)->patterns)
      for (const char* suffix : suffixes)
        names.insert(pattern.name + suffix);
}

/// Every name that a row of these analysers may have a value for.
std::set<std::string> fillable(const Benchmark& benchmark, const std::vector<std::string>& use) {
  std::set<std::string> names;
  std::set<std::string> steps;
  for (const std::string& analyser_name : use) {
    const Analyser& analyser = *benchmark.analyser(analyser_name);
    add_patterns(benchmark, analyser.use, names);
    for (const Analysis& analysis : analyser.analyses) {
      collect_steps(benchmark, analysis.step, steps);
      for (const AnalysedFile& file : analysis.files)
        add_patterns(benchmark, file.use, names);
    }
  }
  for (const std::string& step : steps)
    for (const std::string& used : benchmark.step(step)->use)
      for (const ParameterSet* set : possible_sets(benchmark, used))
        for (const Parameter& parameter : set->parameters) {
          names.insert(parameter.name);
          names.insert(parameter.name + "_" + step);
        }
  return names;
}

bool measures_energy(const Benchmark& benchmark) {
  return std::any_of(benchmark.steps.begin(), benchmark.steps.end(),
                     [](const Step& step) { return step.energy.has_value(); });
}

/// What the meter tells of every run.
constexpr std::array meter_names{"energy_wh",     "energy_net_wh",  "power_mean_w",
                                 "power_max_w",   "power_idle_w",   "duration_s",
                                 "energy_source", "energy_quality", "energy_recovered"};

/// Of a device or a region, whose names nobody knows yet.
bool is_of_meter(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> ends{
      {{"energy_", "_wh"}, {"power_region_", "_w"}, {"duration_region_", "_s"}}};
  return std::ranges::any_of(suffixes, [&](std::string_view suffix) {
    if (!name.ends_with(suffix))
      return false;
    const std::string_view base = name.substr(0, name.size() - suffix.size());
    return std::ranges::any_of(ends, [&](const auto& parts) {
      return base.size() > parts.first.size() + parts.second.size() &&
             base.starts_with(parts.first) && base.ends_with(parts.second);
    });
  });
}

}  // namespace

void check_columns(const Benchmark& benchmark, Diagnostics& diagnostics) {
  const bool energy = measures_energy(benchmark);
  for (const Result& result : benchmark.results) {
    std::set<std::string> names = fillable(benchmark, result.use);
    if (energy)
      for (const std::string name : meter_names)
        for (const char* suffix : suffixes)
          names.insert(name + suffix);
    const std::vector<std::string> known(names.begin(), names.end());
    const auto check_all = [&](const auto& columns, const char* what) {
      for (const auto& column : columns)
        if (!names.contains(column.name) && !column.name.starts_with("jube_") &&
            !(energy && is_of_meter(column.name)))
          diagnostics.warn(
              fmt::format("{} '{}' is no parameter or pattern of this result", what, column.name),
              did_you_mean(column.name, known), column.place);
    };
    for (const Table& table : result.tables)
      check_all(table.columns, "column");
    for (const Syslog& syslog : result.syslogs)
      check_all(syslog.keys, "key");
    for (const Database& database : result.databases)
      check_all(database.keys, "key");
  }
}

}  // namespace bench::model
