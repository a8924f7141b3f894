#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>

#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/energy/program/sampler.hpp>

namespace bench::energy {

/// Measures the node before the program starts, for `duration`, with every signal blocked.
/// @returns the power, or the signal that ended the wait and is to end this process
std::variant<IdlePower, int> measure_idle_power(SamplerSettings settings,
                                                std::chrono::nanoseconds duration,
                                                std::chrono::nanoseconds start_patience);

/// Says of each channel what it drew idle, as far as that is known.
void add_idle_power(Measurement& measurement, const IdlePower& idle);

/// Decides when a node has the wanted temperature. Pure: takes the time and the highest temperature
/// as arguments.
class ThermalCriterion {
 public:
  explicit ThermalCriterion(const ThermalCondition& condition) : condition_(condition) {}

  /// Whether the wait is over. Stable: changed by at most 1 degree for 10 s.
  /// @param time_s since the wait began
  /// @param temperature_c none if no sensor is readable
  bool is_over(double time_s, std::optional<double> temperature_c);

 private:
  ThermalCondition condition_;
  std::optional<double> since_s_;  ///< Since when the temperature has been stable.
  double least_c_ = 0;
  double most_c_ = 0;
};

/// What a wait for a temperature came to.
struct ThermalWait {
  int signal = 0;       ///< Ended the wait, and is to end the process.
  std::string failure;  ///< Why the program starts although it is too warm; one line.
};

/// Waits for at most ten minutes, with every signal blocked, for what is wished of the hottest of
/// the processors and of the GPUs that this process may use.
/// @throws bench::Error if no temperature can be read, and one is needed
ThermalWait wait_for_temperature(const ThermalCondition& condition,
                                 const std::filesystem::path& sysfs);

}  // namespace bench::energy
