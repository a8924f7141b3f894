#pragma once

#include <optional>

namespace bench::energy {

/// Energy of one power signal over the window from 0 s to `end_s`, sample by sample in constant
/// memory.
///
/// Window rule: only samples inside the window count; the first is extended back to its start and
/// the last forward to its end, between them the trapezoidal rule holds (Press et al., Numerical
/// Recipes, 3rd ed., 4.1). A sample of a sensor that averages over the past w seconds stands for
/// the moment w/2 earlier. A sample before the start of the program would pull idle power into the
/// window: 12 % of a run of 0.5 s.
class WindowIntegral {
 public:
  explicit WindowIntegral(double averaging_window_s = 0) : shift_s_(averaging_window_s / 2) {}

  /// Times are seconds since the start of the window and increase.
  void add(double time_s, double power_w);
  /// Fixes the end. Samples before it that are still to come are taken, later ones are not.
  void close(double end_s) { end_s_ = end_s; }

  /// Joules in the closed window; nothing where no sample lies inside.
  std::optional<double> energy_j() const;

 private:
  double shift_s_;
  std::optional<double> end_s_;
  double sum_j_ = 0;
  double last_time_s_ = 0;
  double last_power_w_ = 0;
  bool any_ = false;
};

/// Energy that a counter advanced over the window from 0 s to `end_s`; between two readings it is
/// taken as linear. What lies before the first or behind the last reading is extended with the mean
/// slope of the rest.
class CounterDifference {
 public:
  /// Times are seconds since the start of the window and increase.
  void add(double time_s, double energy_j);
  void close(double end_s) { end_s_ = end_s; }

  /// Joules in the closed window; nothing with fewer than two readings or after a reset.
  std::optional<double> energy_j() const;
  /// The counter went backwards, as it does when a driver is loaded again.
  bool was_reset() const { return reset_; }

 private:
  struct Point {
    double time_s;
    double energy_j;
  };
  static double interpolate(const Point& a, const Point& b, double time_s);

  std::optional<double> end_s_;
  std::optional<Point> first_;  ///< Start of the window, or the first reading after it.
  std::optional<Point> last_;   ///< The latest reading, not behind the end.
  bool reset_ = false;
};

/// Energy of a counter that starts again at 0 after `range`: the way from `last` to `now`, at most
/// one wrap. Source: Linux Documentation/power/powercap/powercap.rst, max_energy_range_uj.
double unwrapped_difference(double last, double now, double range);

}  // namespace bench::energy
