#pragma once

#include <filesystem>

#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {

/// Clock, temperature and power limit of one GPU, as far as its driver shows them in sysfs.
/// Source: Linux Documentation/gpu/amdgpu/thermal.rst, hwmon interfaces.
class AmdWatch {
 public:
  /// @param device of the card: `<sysfs>/class/drm/card0/device`
  explicit AmdWatch(const std::filesystem::path& device);

  void read(GpuState& state) const;

 private:
  explicit AmdWatch(const SysfsDirectory& hwmon);

  SysfsNumber clock_;        ///< Hz
  SysfsNumber temperature_;  ///< Thousandths of a degree Celsius; some show the junction's alone.
  SysfsNumber power_limit_;  ///< Millionths of a watt.
};

/// The directory of the device's sensors; empty where it has none.
std::filesystem::path amd_hwmon(const std::filesystem::path& device);

}  // namespace bench::energy
