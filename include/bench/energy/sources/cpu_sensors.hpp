#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {

/// Readings of the processors from sysfs: governors, clocks, temperatures, and throttling events of
/// packages. Sources: Linux Documentation/admin-guide/pm/cpufreq.rst,
/// Documentation/hwmon/coretemp.rst and k10temp.rst.
class CpuSensors {
 public:
  /// Reads governors and throttling counts, and finds the sensors.
  explicit CpuSensors(const std::filesystem::path& sysfs);

  /// Adds a reading of every temperature and of some clocks: reading a clock interrupts the CPU, so
  /// not all are read at once.
  void read(CpuState& state);
  /// Reads the throttling counts again.
  void close(CpuState& state) const;

 private:
  std::optional<std::uint64_t> throttles() const;

  std::vector<SysfsNumber> clocks_;        ///< kHz, one per frequency domain.
  std::vector<SysfsNumber> temperatures_;  ///< Thousandths of a degree Celsius.
  std::vector<SysfsNumber> throttles_;     ///< One per package.
  std::string governor_;
  std::optional<std::uint64_t> throttles_before_;
  std::size_t next_clock_ = 0;
};

}  // namespace bench::energy
