#pragma once

#include <memory>

#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/nvml_devices.hpp>

namespace bench::energy {

/// NVIDIA GPUs through NVML. For each device `nvml:0:gpu`, with power and, from Volta on, the
/// counter of energy since the driver was loaded; where there are several filters or scopes also
/// `nvml:0:gpu_average` (mean over 1 s) and `nvml:0:module` (GPU and CPU of a superchip). Power is
/// the instantaneous field where the driver has it, else the average, else `GetPowerUsage`. A
/// counter is asked only when it can have moved, and of slow drivers not all in one reading.
///
/// On a superchip the counter may be that of the module; both channels have it then, and
/// `results_of` decides. Source: zeus pull request 172. Source: NVML API reference,
/// nvmlDeviceGetFieldValues, nvmlDeviceGetPowerUsage, nvmlDeviceGetTotalEnergyConsumption.
/// @throws bench::Error if the library or a usable device is not there
std::unique_ptr<PowerSource> open_nvml(const NvmlSettings& settings);

}  // namespace bench::energy
