#pragma once

#include <optional>
#include <string>

namespace bench::energy {

/// Settings that a run requests of the node's processors; absent ones are left unchanged.
struct WantedSettings {
  std::optional<double> gpu_power_limit_w;
  std::optional<double> gpu_clock_mhz;
  std::string cpu_governor;

  bool any() const { return gpu_power_limit_w || gpu_clock_mhz || !cpu_governor.empty(); }
};

}  // namespace bench::energy
