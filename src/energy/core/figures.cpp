#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <bench/energy/core/figures.hpp>

namespace bench::energy {
namespace {

constexpr std::string_view no_device = "no GPU or IPU was measured";
constexpr std::string_view no_counter = "no GPU or IPU with an energy counter was measured";
constexpr std::string_view no_node_sensor = "no sensor of the whole node";
constexpr std::string_view no_apparent_power = "no sensor tells the node's apparent power";

// A name may fit two rows with a `*`: the first counts.
constexpr auto table = [] {
  using enum Combine;
  return std::array{
      Figure{"energy_wh", Of::total, sum, sum, true},
      Figure{"energy_uncertainty_wh", Of::total, sum, sum},
      Figure{"energy_net_wh", Of::total, sum, sum},
      Figure{"power_mean_w", Of::total, sum, by_time, true},
      Figure{"power_max_w", Of::total, sum, highest, true},
      Figure{"power_device_max_w", Of::devices, highest, highest, false, no_device},
      Figure{"power_device_mean_w", Of::devices, mean, by_time, false, no_device},
      Figure{"energy_devices_wh", Of::devices, sum, sum, false, no_device},
      Figure{"energy_devices_counter_wh", Of::devices, sum, sum, false, no_counter},
      Figure{"energy_devices_integrated_wh", Of::devices, sum, sum, false, no_device},
      Figure{"power_devices_max_w", Of::devices, sum, highest, false, no_device},
      Figure{"power_devices_mean_w", Of::devices, sum, by_time, false, no_device},
      Figure{"power_node_mean_w", Of::node, mean, by_time, false, no_node_sensor},
      Figure{"power_node_max_w", Of::node, highest, highest, false, no_node_sensor},
      Figure{"power_node_apparent_mean_va", Of::node, mean, by_time, false, no_apparent_power},
      Figure{"power_node_apparent_max_va", Of::node, highest, highest, false, no_apparent_power},
      Figure{"power_idle_w", Of::total, sum, by_time},
      Figure{"duration_s", Of::run, highest, sum},
      Figure{"energy_source", Of::run, names, names},
      Figure{"energy_quality", Of::run, worst, worst},
      Figure{"energy_recovered", Of::run, texts, texts},
      Figure{"energy_too_short", Of::run, texts, texts, false, "", "too short"},
      Figure{"energy_paused", Of::run, texts, texts, false, "", "meter stopped"},
      Figure{"energy_shared", Of::run, texts, texts, false, "", "not in the total"},
      Figure{"energy_nodes", Of::level, sum, highest},
      Figure{"energy_gap_s", Of::level, highest, highest},
      Figure{"energy_level", Of::level, lowest, lowest},
      Figure{"energy_level_limit", Of::level, texts, texts},
      // The worst.
      Figure{"machine_cpus", Of::machine, highest, highest},
      Figure{"machine_load", Of::machine, highest, highest},
      Figure{"machine_other_cpus", Of::machine, highest, highest},
      Figure{"machine_governor", Of::machine, names, names},
      Figure{"machine_cpu_clock_mhz", Of::machine, lowest, lowest},
      Figure{"machine_cpu_clock_min_mhz", Of::machine, lowest, lowest},
      Figure{"machine_cpu_temperature_start_c", Of::machine, highest, highest},
      Figure{"machine_cpu_temperature_max_c", Of::machine, highest, highest},
      Figure{"machine_cpu_throttled", Of::machine, highest, highest},
      Figure{"machine_gpu_power_limit_w", Of::machine, lowest, lowest},
      Figure{"machine_gpu_clock_mhz", Of::machine, lowest, lowest},
      Figure{"machine_gpu_clock_min_mhz", Of::machine, lowest, lowest},
      Figure{"machine_gpu_temperature_start_c", Of::machine, highest, highest},
      Figure{"machine_gpu_temperature_max_c", Of::machine, highest, highest},
      Figure{"machine_gpu_throttle", Of::machine, texts, texts},
      Figure{"machine_disturbance", Of::machine, texts, texts, false, "", "not quiet"},
      Figure{"energy_absent", Of::absence, texts, texts},
      Figure{"energy_region_*_absent", Of::absence, texts, texts},
      Figure{"energy_region_*_uncertainty_wh", Of::total, sum, sum},
      Figure{"energy_region_*_wh", Of::total, sum, sum, true},
      Figure{"energy_devices_region_*_wh", Of::devices, sum, sum, true, no_device},
      Figure{"power_region_*_w", Of::total, sum, by_time, true},
      Figure{"duration_region_*_s", Of::run, highest, sum},
      Figure{"energy_*_uncertainty_wh", Of::channel, sum, sum},
      Figure{"energy_*_wh", Of::channel, sum, sum},
  };
}();

}  // namespace

bool Figure::is_about_measuring() const {
  return of == Of::level || of == Of::machine || name.ends_with("_uncertainty_wh");
}

std::optional<std::string_view> Figure::owner_in(std::string_view its_name) const {
  const auto star = name.find('*');
  if (star == std::string_view::npos)
    return its_name == name ? std::optional(std::string_view()) : std::nullopt;
  const std::string_view begin = name.substr(0, star);
  const std::string_view end = name.substr(star + 1);
  if (its_name.size() <= begin.size() + end.size() || !its_name.starts_with(begin) ||
      !its_name.ends_with(end))
    return std::nullopt;
  return its_name.substr(begin.size(), its_name.size() - begin.size() - end.size());
}

std::string Figure::name_for(std::string_view owner) const {
  const auto star = name.find('*');
  std::string its_name(name.substr(0, star));
  if (star != std::string_view::npos)
    its_name.append(owner).append(name.substr(star + 1));
  return its_name;
}

std::span<const Figure> figures() {
  return table;
}

const Figure* figure_of(std::string_view name) {
  const auto found = std::ranges::find_if(
      table, [&](const Figure& figure) { return figure.owner_in(name).has_value(); });
  return found == table.end() ? nullptr : &*found;
}

std::string unit_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, const char*>, 7> units{{{"_wh", "Wh"},
                                                                           {"_w", "W"},
                                                                           {"_va", "VA"},
                                                                           {"_s", "s"},
                                                                           {"_j", "J"},
                                                                           {"_mhz", "MHz"},
                                                                           {"_c", "°C"}}};
  for (const auto& [suffix, unit] : units)
    if (name.ends_with(suffix))
      return unit;
  return "";
}

}  // namespace bench::energy
