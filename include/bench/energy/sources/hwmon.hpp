#pragma once

#include <filesystem>
#include <memory>

#include <bench/energy/core/power_source.hpp>

namespace bench::energy {

/// Power meters under `<sysfs>/class/hwmon/hwmon*`, in microwatts: the ACPI meters of Grace
/// superchips (`hwmon:0:module`, `:grace`, `:cpu`, `:sysio`) and of whole nodes
/// (`hwmon:hwmon3:node`), AMD GPUs that the program sees (`hwmon:hwmon4:gpu`), and any others,
/// which are recorded and not added. Files and labels are looked for in `hwmonN/` and
/// `hwmonN/device/`.
///
/// Firmware may answer with the value of the rail that was read first, so each reading of the
/// meters starts at another one. The error value 0xFFFFFFFF mW, zero and the impossible are not
/// readings. A meter without a reading at the start is left out, unless it is a rail of Grace that
/// another socket shows: whatever is inside has that rail as its parent. Sources: Linux
/// Documentation/hwmon/acpi_power_meter.rst and sysfs-interface.rst; NVIDIA edk2-nvidia commit
/// ba0e47d2; lm-sensors issue 460.
/// @throws bench::Error if no meter can be read
std::unique_ptr<PowerSource> open_hwmon(const std::filesystem::path& sysfs);

}  // namespace bench::energy
