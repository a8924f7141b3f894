#pragma once

#include <filesystem>
#include <memory>

#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/amd_devices.hpp>

namespace bench::energy {

/// AMD GPUs through the files of their driver, without any library: `amdgpu:0:gpu` with power and
/// energy from `<sysfs>/class/drm/card*/device/gpu_metrics`; where that has no power, from
/// `device/hwmon/hwmon*/power1_average` or `power1_input`, in microwatts.
/// Sources: Linux Documentation/gpu/amdgpu/thermal.rst; see gpu_metrics.hpp.
/// @throws bench::Error if no GPU of those that the program sees can be read
std::unique_ptr<PowerSource> open_amdgpu(const std::filesystem::path& sysfs,
                                         const AmdVisibility& visibility);

}  // namespace bench::energy
