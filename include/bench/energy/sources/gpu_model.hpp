#pragma once

#include "nvml_devices.hpp"

#include <memory>

#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/model.hpp>

namespace bench::energy {

/// An estimate for GPUs whose power cannot be read, `model:gpu0` each, from the share of time in
/// which at least one kernel ran. How much of the GPU the kernel used is not in it.
/// Source: NVML API reference, nvmlDeviceGetUtilizationRates.
/// @throws bench::Error if the library or a usable device is not there
std::unique_ptr<PowerSource> open_gpu_model(const PowerModel& model, const NvmlSettings& settings);

}  // namespace bench::energy
