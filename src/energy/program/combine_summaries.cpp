#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/uncertainty.hpp>
#include <bench/energy/program/combine_summaries.hpp>
#include <bench/energy/program/methodology.hpp>
#include <bench/energy/program/report.hpp>

namespace bench::energy {
namespace {

namespace fs = std::filesystem;

/// What is there only if every meter has it.
constexpr std::array<std::string_view, 13> summed{"energy_wh",
                                                  "energy_uncertainty_wh",
                                                  "power_mean_w",
                                                  "power_max_w",
                                                  "energy_devices_wh",
                                                  "energy_devices_counter_wh",
                                                  "energy_devices_integrated_wh",
                                                  "power_devices_mean_w",
                                                  "power_devices_max_w",
                                                  "power_device_max_w",
                                                  "power_device_mean_w",
                                                  "power_idle_w",
                                                  "energy_net_wh"};
/// All else is a number.
constexpr std::array<std::string_view, 11> worded{
    "energy_quality",   "energy_source",        "energy_recovered",   "energy_absent",
    "energy_paused",    "energy_shared",        "energy_too_short",   "energy_level_limit",
    "machine_governor", "machine_gpu_throttle", "machine_disturbance"};
constexpr std::array<std::string_view, 5> qualities{"none", "partial", "estimated", "recovered",
                                                    "measured"};

using Values = std::vector<std::string>;

/// Why a region has no energy.
bool is_reason_of_region(std::string_view name) {
  return name.starts_with("energy_region_") && name.ends_with("_absent");
}

bool is_word(std::string_view name) {
  return std::ranges::find(worded, name) != worded.end() || is_reason_of_region(name);
}

double number_in(const std::string& text) {
  if (const auto number = parse_number(text))
    return *number;
  throw Error(fmt::format("'{}' is not a number", text));
}

double sum_of(const Values& values) {
  double sum = 0;
  for (const std::string& value : values)
    sum += number_in(value);
  return sum;
}

std::string added(const Values& values) {
  return fmt::format("{:.7g}", sum_of(values));
}

/// Of single nodes, or of single devices, of which each node has as many.
std::string mean(const Values& values) {
  return fmt::format("{:.7g}", sum_of(values) / static_cast<double>(values.size()));
}

std::string worst(const Values& values) {
  const auto rank = [](const std::string& word) { return std::ranges::find(qualities, word); };
  return *std::ranges::min_element(values, {}, rank);
}

std::string united(const Values& values, std::string_view separator) {
  Values all;
  for (const std::string& value : values)
    for (const std::string& one : split(value, separator))
      if (std::ranges::find(all, one) == all.end())
        all.push_back(one);
  return join(all, separator);
}

std::string lowest(const Values& values) {
  double least = number_in(values[0]);
  for (const std::string& value : values)
    least = std::min(least, number_in(value));
  return fmt::format("{:.7g}", least);
}

std::string highest(const Values& values) {
  double most = number_in(values[0]);
  for (const std::string& value : values)
    most = std::max(most, number_in(value));
  return fmt::format("{:.7g}", most);
}

const std::string* find(const std::vector<NameValue>& summary, std::string_view name) {
  const auto found =
      std::ranges::find_if(summary, [&](const NameValue& line) { return line.first == name; });
  return found == summary.end() ? nullptr : &found->second;
}

/// `duration_region_epoch_s` of `power_region_epoch_w`, `duration_s` of any other power.
std::string duration_of(const std::string& power) {
  constexpr std::string_view region = "power_region_";
  return power.starts_with(region)
             ? "duration_region_" + power.substr(region.size(), power.rfind("_w") - region.size()) +
                   "_s"
             : "duration_s";
}

/// Of a power, over all that has both it and a duration.
std::string mean_over_time(const std::string& name,
                           std::span<const std::vector<NameValue>> summaries) {
  double sum_ws = 0;
  double sum_s = 0;
  for (const auto& summary : summaries) {
    const std::string* const power_w = find(summary, name);
    const std::string* const duration_s = find(summary, duration_of(name));
    if (!power_w || !duration_s)
      continue;
    sum_ws += number_in(*power_w) * number_in(*duration_s);
    sum_s += number_in(*duration_s);
  }
  return sum_s > 0 ? fmt::format("{:.7g}", sum_ws / sum_s) : "";
}

std::string combined(const std::string& name, const Values& values,
                     std::span<const std::vector<NameValue>> summaries, Course course) {
  if (name == "energy_quality")
    return worst(values);
  if (name == "energy_source" || name == "machine_governor")
    return united(values, ",");
  if (is_word(name))
    return united(values, "; ");
  if (name.starts_with("machine_"))  // the worst
    return name.ends_with("_mhz") || name.ends_with("_limit_w") ? lowest(values) : highest(values);
  const bool of_one = name.starts_with("power_device_") || name.starts_with("power_node_");
  if (of_one && name.find("_max_") != std::string::npos)
    return highest(values);
  if (of_one && course == Course::at_once)
    return mean(values);
  if (name == "energy_gap_s" || (name == "energy_nodes" && course == Course::in_sequence))
    return highest(values);
  if (course == Course::at_once)
    return name.starts_with("duration_") ? highest(values) : added(values);
  if (name == "power_max_w" || name == "power_devices_max_w")
    return highest(values);
  return name.starts_with("power_") ? mean_over_time(name, summaries) : added(values);
}

/// Whether some of the energies under this name have no error bar, as estimates have none.
bool is_error_bar_of_a_part(std::string_view name, const std::map<std::string, Values>& values) {
  constexpr std::string_view end = "_uncertainty_wh";
  if (!name.ends_with(end))
    return false;
  const auto energies = values.find(std::string(name.substr(0, name.size() - end.size())) + "_wh");
  return energies == values.end() ||
         energies->second.size() != values.find(std::string(name))->second.size();
}

/// The sums over the channels in a region.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> of_regions{
    {{"energy_region_", "_wh"},
     {"energy_region_", "_uncertainty_wh"},
     {"energy_devices_region_", "_wh"},
     {"power_region_", "_w"}}};

/// Whether one of the meters that measured the region of `name` lacks this value.
bool is_of_part_of_a_region(const std::string& name, const std::map<std::string, Values>& values) {
  return std::ranges::any_of(of_regions, [&](const auto& affixes) {
    const auto& [begin, end] = affixes;
    if (!name.starts_with(begin) || !name.ends_with(end) ||
        name.size() <= begin.size() + end.size())
      return false;
    const std::string region = name.substr(begin.size(), name.size() - begin.size() - end.size());
    const auto all = values.find(fmt::format("duration_region_{}_s", region));
    return all != values.end() && all->second.size() != values.at(name).size();
  });
}

/// Whether `name` is the energy of a channel, and may be that of some nodes or launches only: one
/// without a total does not have it. One with a total has measured another device.
bool is_of_some_meters(const std::string& name, std::span<const std::vector<NameValue>> summaries) {
  if (!name.starts_with("energy_") || !name.ends_with("_wh") ||
      name.starts_with("energy_region_") || name.starts_with("energy_devices_"))
    return false;
  return std::ranges::any_of(summaries, [&](const auto& summary) {
    return !find(summary, name) && !find(summary, "energy_wh");
  });
}

bool is_of_a_part(const std::string& name, const std::map<std::string, Values>& values,
                  std::span<const std::vector<NameValue>> summaries) {
  const bool is_total = std::ranges::find(summed, name) != summed.end();
  return (is_total && values.at(name).size() != summaries.size()) ||
         is_error_bar_of_a_part(name, values) || is_of_part_of_a_region(name, values) ||
         is_of_some_meters(name, summaries);
}

/// Of one meter's energy, which may be a small part of all.
void drop_if_known_well(std::vector<NameValue>& summary) {
  const std::string* const energy_wh = find(summary, "energy_wh");
  const std::string* const uncertainty_wh = find(summary, "energy_uncertainty_wh");
  if (energy_wh && uncertainty_wh &&
      number_in(*uncertainty_wh) <= most_uncertainty * number_in(*energy_wh))
    std::erase_if(summary, [](const NameValue& line) { return line.first == "energy_too_short"; });
}

/// Of all nodes together: that of a part says little. Without one where a meter has none.
void set_level(std::vector<NameValue>& summary, const std::map<std::string, Values>& values,
               std::size_t meters) {
  constexpr std::array<std::string_view, 4> names{"energy_nodes", "energy_gap_s", "energy_level",
                                                  "energy_level_limit"};
  const std::string* const power_w = find(summary, "power_mean_w");
  const std::string* const nodes = find(summary, "energy_nodes");
  const std::string* const gap_s = find(summary, "energy_gap_s");
  std::vector<NameValue> level;
  if (const auto of_meters = values.find("energy_nodes");
      power_w && nodes && gap_s && of_meters->second.size() == meters)
    level = methodology_summary({.nodes = static_cast<int>(number_in(*nodes)),
                                 .parts = std::ranges::count(of_meters->second, "0") > 0,
                                 .power_mean_w = number_in(*power_w),
                                 .longest_gap_s = number_in(*gap_s)});
  std::erase_if(summary, [&](const NameValue& line) {
    return std::ranges::find(names, line.first) != names.end();
  });
  std::ranges::copy(level, std::back_inserter(summary));
}

}  // namespace

std::vector<NameValue> read_summary(const fs::path& file) {
  std::vector<NameValue> lines;
  int number = 0;
  for (const std::string& line : split(strip(read_file(file)), "\n")) {
    ++number;
    const auto equals = line.find('=');
    if (equals == std::string::npos)
      throw Error("the line is not name=value", "it is not an energy.txt",
                  {.file = file.string(), .line = number});
    NameValue read{line.substr(0, equals), line.substr(equals + 1)};
    if (!is_word(read.first) && !parse_number(read.second))
      throw Error(fmt::format("'{}' is not a number", read.second),
                  "bench-energy writes one there; leave out a file that was changed or cut off",
                  {.file = file.string(), .line = number, .column = static_cast<int>(equals) + 2});
    lines.push_back(std::move(read));
  }
  return lines;
}

std::vector<NameValue> combine_summaries(std::span<const std::vector<NameValue>> summaries,
                                         Course course) {
  std::vector<std::string> names;  // in the order in which they come
  std::map<std::string, Values> values;
  for (const auto& summary : summaries)
    for (const auto& [name, value] : summary) {
      if (!values.contains(name))
        names.push_back(name);
      values[name].push_back(value);
    }
  for (const std::string& name : names)
    if (is_reason_of_region(name)) {  // the others know a part only
      const std::string region = name.substr(0, name.size() - std::strlen("_absent"));
      values.erase(region + "_wh");
      values.erase(region + "_uncertainty_wh");
      values.erase("power" + region.substr(std::strlen("energy")) + "_w");
      values.erase("energy_devices" + region.substr(std::strlen("energy")) + "_wh");
    }
  std::vector<NameValue> lines;
  for (const std::string& name : names) {
    if (!values.contains(name) || is_of_a_part(name, values, summaries))
      continue;
    if (std::string value = combined(name, values[name], summaries, course); !value.empty())
      lines.emplace_back(name, std::move(value));
  }
  drop_if_known_well(lines);
  set_level(lines, values, summaries.size());
  return lines;
}

}  // namespace bench::energy
