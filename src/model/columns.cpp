#include "check.hpp"

#include <algorithm>
#include <array>
#include <set>

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

void add_patterns(const Benchmark& benchmark, const std::vector<std::string>& sets,
                  std::set<std::string>& names) {
  constexpr std::array suffixes{"_first", "_last", "_cnt", "_min",  "_max",
                                "_sum",   "_avg",  "_std", "_sum2", ""};
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

bool is_built_in(const std::string& name, bool energy) {
  return name.starts_with("jube_") ||
         (energy && (name.starts_with("energy_") || name.starts_with("power_") ||
                     name.starts_with("duration_")));
}

}  // namespace

void check_columns(const Benchmark& benchmark, Diagnostics& diagnostics) {
  const bool energy = measures_energy(benchmark);
  for (const Result& result : benchmark.results) {
    const std::set<std::string> names = fillable(benchmark, result.use);
    const std::vector<std::string> known(names.begin(), names.end());
    const auto check_all = [&](const auto& columns, const char* what) {
      for (const auto& column : columns)
        if (!names.contains(column.name) && !is_built_in(column.name, energy))
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
