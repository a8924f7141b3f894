#pragma once

#include <optional>

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

}  // namespace bench::energy
