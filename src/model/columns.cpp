#include "columns.hpp"

#include "check.hpp"

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
#include <bench/model/benchmark.hpp>
#include <bench/model/use.hpp>
#include <bench/statistics/statistics.hpp>

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
  for (const std::string& set : sets)
    for (const Pattern& pattern : benchmark.pattern_set(set)->patterns)
      for (const auto& statistic : statistics::statistics())
        names.insert(pattern.name + std::string(statistic.suffix));
}

bool measures_energy(const Benchmark& benchmark) {
  return std::any_of(benchmark.steps.begin(), benchmark.steps.end(),
                     [](const Step& step) { return step.energy.has_value(); });
}

/// What the meter tells of every run.
constexpr std::array meter_names{"energy_wh",
                                 "energy_uncertainty_wh",
                                 "energy_net_wh",
                                 "power_mean_w",
                                 "power_max_w",
                                 "power_device_max_w",
                                 "power_device_mean_w",
                                 "energy_devices_wh",
                                 "energy_devices_counter_wh",
                                 "energy_devices_integrated_wh",
                                 "power_devices_max_w",
                                 "power_devices_mean_w",
                                 "power_node_mean_w",
                                 "power_node_max_w",
                                 "power_node_apparent_mean_va",
                                 "power_node_apparent_max_va",
                                 "power_idle_w",
                                 "duration_s",
                                 "energy_source",
                                 "energy_quality",
                                 "energy_recovered",
                                 "energy_too_short",
                                 "energy_paused",
                                 "energy_shared",
                                 "energy_nodes",
                                 "energy_gap_s",
                                 "energy_level",
                                 "energy_level_limit",
                                 "machine_cpus",
                                 "machine_load",
                                 "machine_other_cpus",
                                 "machine_governor",
                                 "machine_cpu_clock_mhz",
                                 "machine_cpu_clock_min_mhz",
                                 "machine_cpu_temperature_start_c",
                                 "machine_cpu_temperature_max_c",
                                 "machine_cpu_throttled",
                                 "machine_gpu_power_limit_w",
                                 "machine_gpu_clock_mhz",
                                 "machine_gpu_clock_min_mhz",
                                 "machine_gpu_temperature_start_c",
                                 "machine_gpu_temperature_max_c",
                                 "machine_gpu_throttle",
                                 "machine_disturbance"};

/// Of a device or a region, whose names nobody knows yet.
bool is_of_meter(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> ends{
      {{"energy_", "_wh"}, {"power_region_", "_w"}, {"duration_region_", "_s"}}};
  return std::ranges::any_of(statistics::statistics(), [&](const auto& statistic) {
    if (!name.ends_with(statistic.suffix))
      return false;
    const std::string_view base = name.substr(0, name.size() - statistic.suffix.size());
    return std::ranges::any_of(ends, [&](const auto& parts) {
      return base.size() > parts.first.size() + parts.second.size() &&
             base.starts_with(parts.first) && base.ends_with(parts.second);
    });
  });
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
    add_patterns(benchmark, analyser.use, names_);
    for (const Analysis& analysis : analyser.analyses) {
      collect_steps(benchmark, analysis.step, steps);
      for (const AnalysedFile& file : analysis.files)
        add_patterns(benchmark, file.use, names_);
    }
  }
  for (const std::string& step : steps)
    add_parameters(benchmark, step, names_);
  if (energy_)
    for (const std::string name : meter_names)
      for (const auto& statistic : statistics::statistics())
        names_.insert(name + std::string(statistic.suffix));
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
          diagnostics.warn(fmt::format("{} '{}' is not a parameter or pattern of this result", what,
                                       column.name),
                           names.near(column.name), column.place);
    };
    const auto check_sort = [&](const auto& one, const auto& columns, const char* what) {
      for (const std::string& name : one.sort)
        if (!names.contains(name) && !is_calculated(columns, name))
          diagnostics.warn(
              fmt::format(
                  "{} '{}' is sorted by '{}', which is not a parameter or pattern of this result",
                  what, one.name, name),
              names.near(name), one.place);
    };
    for (const Table& table : result.tables) {
      check_all(table.columns, "column");
      check_sort(table, table.columns, "table");
      if (table.columns.empty())
        diagnostics.warn(fmt::format("table '{}' has no column", table.name),
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
