#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <bench/model/meter_names.hpp>
#include <bench/numbers/statistics.hpp>

namespace bench::model {

std::string unit_of_meter(std::string_view name) {
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

bool is_about_measuring(std::string_view name) {
  constexpr std::array<std::string_view, 3> others{"energy_nodes", "energy_gap_s", "energy_level"};
  return name.starts_with("machine_") ||
         (name.starts_with("energy_") && name.ends_with("_uncertainty_wh")) ||
         std::ranges::find(others, name) != others.end();
}

std::span<const std::string_view> meter_names() {
  static constexpr std::array<std::string_view, 44> names{"energy_wh",
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
  return names;
}

bool is_text_of_meter(std::string_view name) {
  constexpr std::array<std::string_view, 6> texts{"energy_source",        "energy_quality",
                                                  "energy_recovered",     "machine_governor",
                                                  "machine_gpu_throttle", "energy_level_limit"};
  return std::ranges::find(texts, name) != texts.end() ||
         std::ranges::find(remarks, name, &Remark::name) != remarks.end();
}

bool is_of_meter(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> ends{
      {{"energy_", "_wh"}, {"power_region_", "_w"}, {"duration_region_", "_s"}}};
  return std::ranges::any_of(statistics::statistics(), [&](const auto& statistic) {
    if (!name.ends_with(statistic.suffix))
      return false;
    const std::string_view base = name.substr(0, name.size() - statistic.suffix.size());
    return std::ranges::find(meter_names(), base) != meter_names().end() ||
           std::ranges::any_of(ends, [&](const auto& parts) {
             return base.size() > parts.first.size() + parts.second.size() &&
                    base.starts_with(parts.first) && base.ends_with(parts.second);
           });
  });
}

}  // namespace bench::model
