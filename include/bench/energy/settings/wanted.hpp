#pragma once

#include <optional>
#include <string>

namespace bench::energy {

/// What a run wants of the node's processors; what is absent stays as it is.
struct WantedSettings {
  std::optional<double> gpu_power_limit_w;
  std::optional<double> gpu_clock_mhz;
  std::string cpu_governor;

  bool any() const { return gpu_power_limit_w || gpu_clock_mhz || !cpu_governor.empty(); }
};

}  // namespace bench::energy
