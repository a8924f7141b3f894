#pragma once

#include <memory>
#include <optional>

#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/nvml_library.hpp>

namespace bench::energy {

/// When to read a counter that moves in steps, one period apart or more: not before it can have
/// moved, and from then on at each chance until it has. So a driver is not asked in vain, and each
/// movement is known to lie between two readings.
class CounterSchedule {
 public:
  explicit CounterSchedule(double period_s) : period_s_(period_s) {}

  /// Times are seconds on one clock and increase.
  bool is_due(double time_s) const { return !value_j_ || time_s >= earliest_s_ + period_s_; }
  /// The counter showed this.
  void add(double time_s, double value_j);
  /// How long before `time_s` it came to show what it does.
  double age_s(double time_s) const { return time_s - (earliest_s_ + latest_s_) / 2; }

 private:
  double period_s_;
  std::optional<double> value_j_;
  double last_read_s_ = 0;
  double earliest_s_ = 0;  ///< Of the last movement.
  double latest_s_ = 0;
};

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
