#pragma once

#include <optional>
#include <string>

namespace bench::energy {

/// What a program is to wait for before it starts, so that each begins as warm as the others.
struct ThermalWish {
  enum class Kind { nothing, time, temperature, stable };
  Kind kind = Kind::nothing;
  double time_s = 0;
  double temperature_c = 0;  ///< Of the hottest sensor, at most.
};

/// `stable`, a temperature (`45C`) or a time (`60s`); nothing for any other text.
std::optional<ThermalWish> parse_thermal(const std::string& text);

/// Decides when a node is as warm or cool as it is wanted. Pure: told of the time and the hottest
/// temperature.
class ThermalJudge {
 public:
  explicit ThermalJudge(const ThermalWish& wish) : wish_(wish) {}

  /// Whether the wait is over. Stable is what has changed by no more than 1 degree for 10 s.
  /// @param time_s since the wait began
  /// @param temperature_c none where no sensor can be read
  bool is_over(double time_s, std::optional<double> temperature_c);

 private:
  ThermalWish wish_;
  std::optional<double> since_s_;  ///< From when on the temperature has hardly changed.
  double least_c_ = 0;
  double most_c_ = 0;
};

}  // namespace bench::energy
