#pragma once

#include <optional>
#include <string>

namespace bench::energy {

/// The condition to wait for before a program starts, so that all start at the same temperature.
struct ThermalCondition {
  enum class Kind { nothing, time, temperature, stable };
  Kind kind = Kind::nothing;
  double time_s = 0;
  double temperature_c = 0;  ///< Of the hottest sensor, at most.
};

/// `stable`, a temperature (`45C`) or a time (`60s`); nothing for any other text.
std::optional<ThermalCondition> parse_thermal(const std::string& text);

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

}  // namespace bench::energy
