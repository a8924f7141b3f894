#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/nvml_library.hpp>

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

/// An estimate for nodes without a sensor, `model:cpu` or `model:node`, from the utilisation of the
/// CPUs this process may run on, whoever uses them. As a counter:
///
///     energy_j = idle_w * seconds + (full_w - idle_w) * busy CPU seconds / number of CPUs
///
/// Busy is user, nice, system, irq, softirq and steal in `<proc>/stat` (proc(5); its unit is
/// 1/sysconf(_SC_CLK_TCK) s, guest time is part of user).
/// @throws bench::Error if the file cannot be read
std::unique_ptr<PowerSource> open_cpu_model(const PowerModel& model,
                                            const std::filesystem::path& proc = "/proc");

/// An estimate for GPUs whose power cannot be read, `model:gpu0` each, from the share of time in
/// which at least one kernel ran. How much of the GPU the kernel used is not in it.
/// Source: NVML API reference, nvmlDeviceGetUtilizationRates.
/// @throws bench::Error if the library or a usable device is not there
std::unique_ptr<PowerSource> open_gpu_model(const PowerModel& model, const NvmlSettings& settings);

}  // namespace bench::energy
