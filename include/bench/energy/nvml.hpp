#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/energy/power_source.hpp>

namespace bench::energy {

struct NvmlSettings {
  std::vector<std::string> libraries{"libnvidia-ml.so.1", "libnvidia-ml.so"};
  /// CUDA_VISIBLE_DEVICES; NVML itself does not look at it. None: every device.
  std::optional<std::string> visible_devices;
  /// The GPUs of the batch job by their numbers on the node, used where the former is not set: a
  /// batch system that does not hide the others tells them so. Where it does hide them, the numbers
  /// do not fit the devices that are left, and those are all the job's.
  std::optional<std::string> job_devices;
  /// Seconds on the clock of the readings; none: the steady one.
  std::function<double()> now_s;
};

/// The value of CUDA_VISIBLE_DEVICES in this process's environment.
std::optional<std::string> visible_devices_of_environment();

/// SLURM_STEP_GPUS, else SLURM_JOB_GPUS. Source: srun(1), sbatch(1), output environment variables.
std::optional<std::string> job_devices_of_environment();

/// The devices that CUDA_VISIBLE_DEVICES selects, ascending: numbers count `uuids`, `GPU-...` is
/// the beginning of one of them. As CUDA does, stops at the first entry that names no device.
/// Source: CUDA C++ Programming Guide, CUDA environment variables.
std::vector<std::size_t> select_devices(const std::string& visible_devices,
                                        std::span<const std::string> uuids);

/// The devices that the settings leave, ascending: all of `uuids` where they say nothing.
std::vector<std::size_t> select_devices(const NvmlSettings& settings,
                                        std::span<const std::string> uuids);

/// NVIDIA GPUs through NVML. For each device `nvml:0:gpu`, with power and, from Volta on, the
/// counter of energy since the driver was loaded; where there are several filters or scopes also
/// `nvml:0:gpu_average` (mean over 1 s) and `nvml:0:module` (GPU and CPU of a superchip). Power is
/// the instantaneous field where the driver has it, else the average, else `GetPowerUsage`. A
/// counter is asked only when it can have moved, and of slow drivers not all in one look.
///
/// On a superchip the counter may be that of the module; both channels have it then, and
/// `results_of` decides. Source: zeus pull request 172. Source: NVML API reference,
/// nvmlDeviceGetFieldValues, nvmlDeviceGetPowerUsage, nvmlDeviceGetTotalEnergyConsumption.
/// @throws bench::Error if the library or a usable device is not there
std::unique_ptr<PowerSource> open_nvml(const NvmlSettings& settings);

}  // namespace bench::energy
