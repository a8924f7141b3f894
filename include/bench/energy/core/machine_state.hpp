#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace bench::energy {

/// Some readings of one quantity, in order.
struct Spread {
  std::uint64_t count = 0;
  double sum = 0;
  double first = 0;
  double least = 0;
  double most = 0;

  void add(double value) {
    first = count == 0 ? value : first;
    least = count == 0 ? value : std::min(least, value);
    most = count == 0 ? value : std::max(most, value);
    sum += value;
    ++count;
  }
  double mean() const { return sum / static_cast<double>(count); }
};

/// The GPUs of one source during a run.
struct GpuState {
  Spread clock_mhz;  ///< Of the streaming multiprocessors.
  Spread temperature_c;
  Spread power_limit_w;
  std::uint64_t reads = 0;
  /// In how many readings of a GPU its driver named this reason for a lower clock: `power_cap`,
  /// `hw_thermal`, ...
  std::map<std::string, std::uint64_t> throttled;
};

/// The processors of the node during a run. What cannot be read is absent.
struct CpuState {
  int cpus = 0;                      ///< Of the node.
  std::optional<double> load;        ///< Mean of runnable processes over the minute before.
  std::optional<double> other_cpus;  ///< CPUs that other programs used, on average.
  std::string governor;              ///< One, or several with commas between.
  Spread clock_mhz;
  Spread temperature_c;                    ///< Of the hottest package.
  std::optional<std::uint64_t> throttled;  ///< How often a package was too hot for its clock.
};

struct MachineState {
  CpuState cpu;
  std::optional<GpuState> gpu;
};

/// Why the figures of the run may be those of a disturbed machine, with `; ` between; empty where
/// it was quiet as far as that could be seen. A power cap is no disturbance: data centre GPUs run
/// at it.
std::string disturbance(const MachineState& machine);

}  // namespace bench::energy
