#pragma once

#include "nvml_devices.hpp"

#include <memory>
#include <string>

#include <bench/energy/core/power_source.hpp>

namespace bench::energy {

/// What a device is said to draw when it is idle and when it is busy; in between it is taken as
/// linear in the utilisation:
///
///     power_w = idle_w + (full_w - idle_w) * utilisation
struct PowerModel {
  enum class Device { cpu, node, gpu };
  Device device = Device::cpu;
  double idle_w = 0;
  double full_w = 0;
};

/// Reads `cpu=65W` (nothing when idle), `cpu=20W..65W`, `node=300W..900W` and `gpu=60W..400W`.
/// @throws bench::Error if it is none of these, or if idle is more than full
PowerModel parse_model(const std::string& text);

/// An estimate in place of a sensor. CPUs and the node follow the utilisation of the CPUs, which
/// says nothing of what accelerators draw; a GPU its own.
/// @throws bench::Error if there is no such utilisation available
std::unique_ptr<PowerSource> open_model(const PowerModel& model, const NvmlSettings& nvml);

}  // namespace bench::energy
