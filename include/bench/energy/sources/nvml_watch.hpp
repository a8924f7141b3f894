#pragma once

#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/sources/nvml_library.hpp>

namespace bench::energy {

/// Adds clock, temperature and reasons for a lower clock of one device, as far as its driver tells
/// them. That a device is idle is no such reason.
/// Source: NVML API reference, nvmlDeviceGetCurrentClocksEventReasons and its constants.
void add_state(const NvmlLibrary& library, nvml::Device device, GpuState& state);

}  // namespace bench::energy
