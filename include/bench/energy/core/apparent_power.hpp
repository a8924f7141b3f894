#pragma once

#include <optional>

#include <bench/energy/core/coverage.hpp>
#include <bench/energy/core/integrate.hpp>

namespace bench::energy {

/// Apparent power of one channel during a run: voltage times current, which supplies and cables
/// must be made for. It exceeds the power by what returns to the grid.
class ApparentPower {
 public:
  /// @param averaging_window_s of the channel
  /// @param longest_gap_s between two readings; a longer time is a hole
  ApparentPower(double averaging_window_s, double longest_gap_s)
      : integral_(averaging_window_s), coverage_(longest_gap_s) {}

  /// Times are seconds since the start of the run, inside it, and increase.
  void add(double time_s, double apparent_va);
  void close(double end_s);

  /// Volt-amperes of the closed run; nothing if it was readable for less than 95 % of it.
  std::optional<double> mean_va() const;
  std::optional<double> max_va() const;

 private:
  bool is_known() const;

  WindowIntegral integral_;
  Coverage coverage_;
  double end_s_ = 0;
  std::optional<double> max_va_;
};

}  // namespace bench::energy
