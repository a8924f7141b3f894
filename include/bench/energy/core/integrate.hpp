#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bench::energy {

/// What was known of a channel at a moment: power, and the energy since some fixed moment.
struct EnergyPoint {
  double time_s = 0;
  double power_w = 0;
  double energy_j = 0;
};

/// The latest points of a channel, as many as there is room for, since the edge of a region may
/// arrive later than the samples around it; and the first ones, since a counter's energy at the
/// start of a run is known once the counter has moved.
class History {
 public:
  struct Pair {
    EnergyPoint before;
    EnergyPoint after;
  };

  explicit History(std::size_t room = 256) : room_(room) {}

  /// How many of the first points stay.
  static constexpr std::size_t early_points = 256;

  /// Times increase.
  void add(const EnergyPoint& point);
  bool empty() const { return points_.empty(); }
  const EnergyPoint& last() const { return points_[(next_ + points_.size() - 1) % points_.size()]; }

  /// The neighbours of a moment; nothing where it lies behind the last point, or among those that
  /// were dropped.
  std::optional<Pair> around(double time_s) const;

  /// The first point from a moment on, and the last one up to it.
  std::optional<EnergyPoint> first_from(double time_s) const;
  std::optional<EnergyPoint> last_until(double time_s) const;

 private:
  const EnergyPoint& nth(std::size_t k) const;  ///< From the oldest of the latest on.

  std::size_t room_;
  std::vector<EnergyPoint> early_;   ///< The first points, once the ring has lost some.
  std::vector<EnergyPoint> points_;  ///< A ring once it is full.
  std::size_t next_ = 0;
};

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
  /// @param history_points how many samples stay for `energy_until_j`
  explicit WindowIntegral(double averaging_window_s = 0, std::size_t history_points = 256)
      : shift_s_(averaging_window_s / 2), history_(history_points) {}

  /// Times are seconds since the start of the window and increase.
  void add(double time_s, double power_w);
  /// Fixes the end. Samples before it that are still to come are taken, later ones are not.
  void close(double end_s) { end_s_ = end_s; }

  /// Joules from the start of the window to `time_s` inside it; nothing where no sample lies
  /// inside, or `time_s` too far back.
  std::optional<double> energy_until_j(double time_s) const;
  /// No later sample changes `energy_until_j(time_s)`.
  bool reaches(double time_s) const;

 private:
  double shift_s_;
  std::optional<double> end_s_;
  std::optional<EnergyPoint> first_;
  History history_;  ///< Energy is that since the start of the window.
};

/// What a counter showed.
struct CounterReading {
  double time_s = 0;  ///< Of the reading.
  double energy_j = 0;
  std::optional<double> moved_s = {};  ///< When the counter came to show it, where that is known.
  /// The sensor's own time of the value. Only differences of it carry meaning.
  std::optional<double> stamp_s = {};
};

/// Energy that a counter advanced over the window from 0 s to `end_s`; between two movements it is
/// taken as linear. What lies before the first or behind the last one is extended with the mean
/// slope of the rest.
///
/// A counter shows what it had counted when it moved last, not when it is read. A movement is taken
/// to lie in the middle of the time in which it can have been: after the reading before it, and no
/// longer than a period before the reading that shows it. Where the sensor gives its own times,
/// those count: they are brought to our clock by the shortest delay that any reading had.
class CounterDifference {
 public:
  /// @param period_s longest time between two movements; 0: it moves all the time
  /// @param history_points how many movements stay for `shown_j`
  explicit CounterDifference(double period_s = 0, std::size_t history_points = 256)
      : period_s_(period_s), history_(history_points) {}

  /// Times are seconds since the start of the window and increase.
  void add(const CounterReading& reading);
  void close(double end_s) { end_s_ = end_s; }

  /// Joules in a window that ends at `end_s`; nothing with fewer than two movements or after a
  /// reset.
  std::optional<double> energy_until_j(double end_s) const;
  /// What the counter showed at a moment of the window, as far as readings tell: linear between two
  /// movements, by the slope of all before the first and behind the last. Differences of it are
  /// energies. Nothing after a reset, or where the moment lies too far back.
  std::optional<double> shown_j(double time_s) const;
  /// The first movement in the window, and the last one up to a moment.
  std::optional<EnergyPoint> first_inside() const;
  std::optional<EnergyPoint> last_until(double time_s) const;
  /// No later reading changes `shown_j(time_s)`.
  bool reaches(double time_s) const;
  /// The counter went backwards, as it does when a driver is loaded again.
  bool was_reset() const { return reset_; }

 private:
  static double interpolate(const EnergyPoint& a, const EnergyPoint& b, double time_s);
  double sensor_time_s(double time_s) const { return time_s - delay_s_.value_or(0); }
  double movement_s(const CounterReading& reading) const;
  /// What is known at both ends of a window, or nearest to them.
  std::optional<History::Pair> ends(double end_s) const;
  std::optional<EnergyPoint> on_our_clock(std::optional<EnergyPoint> point) const;

  double period_s_;
  std::optional<double> end_s_;
  std::optional<CounterReading> last_reading_;
  std::optional<double> delay_s_;  ///< Of our clock behind the sensor's, where that has one.
  History history_;                ///< Times are the sensor's.
  bool reset_ = false;
};

/// Energy of a counter that starts again at 0 after `range`: the way from `last` to `now`, at most
/// one wrap. Source: Linux Documentation/power/powercap/powercap.rst, max_energy_range_uj.
double unwrapped_difference(double last, double now, double range);

/// The lowest and the highest power during a run.
struct PowerRange {
  std::optional<double> min_w;
  std::optional<double> max_w;
};

/// A range that contains the mean power. A counter that moves rarely can leave most of the energy
/// outside of the intervals whose power is known.
inline PowerRange widened_to(std::optional<double> mean_w, PowerRange range) {
  if (mean_w && range.min_w && range.max_w) {
    range.min_w = std::min(*range.min_w, *mean_w);
    range.max_w = std::max(*range.max_w, *mean_w);
  }
  return range;
}

/// An energy that is known less well than this says more about the sensor's timing than about the
/// program. It is also what sensors of data centre GPUs err by in their gain, which no run changes.
/// Source: Yang, Adamek, Armour, arXiv:2312.02741.
inline constexpr double most_uncertainty = 0.05;

/// How an energy is measured, as far as it limits how well the energy is known.
struct Timing {
  double interval_s = 0;          ///< Mean time between two readings.
  double period_s = 0;            ///< Between two values, or two movements of a counter.
  double averaging_window_s = 0;  ///< Of the power, where the energy is its integral.
  double sample_s = 0;            ///< What one value stands for; 0: the energy is a counter's.
  double missing_s = 0;           ///< For which there is no value.
};

/// The half width of an energy, as a function of how long the program ran: what lies at the two
/// ends of a run does not grow with it, and what lies between two samples grows with its root.
/// Adds up over sensors that are read at the same moments, whose errors may have the same sign.
struct Uncertainty {
  double ends_j = 0;                ///< Of one stretch of time.
  double window_j = 0;              ///< Of one stretch of time, with the same sign in all.
  double missing_j = 0;             ///< Of the time without a value.
  double samples_j_per_root_s = 0;  ///< Of what lies between samples, by the root of the time.

  /// @param stretches of time, `duration_s` all together
  double half_width_j(double duration_s, double stretches = 1) const;
  /// The shortest run whose energy is known to `most_uncertainty`.
  double shortest_run_s(double power_mean_w) const;

  Uncertainty& operator+=(const Uncertainty& other);
};

/// - At each end of a run up to half a period is counted wrongly, or a quarter of the time between
///   two readings, where linear interpolation meets a jump from nothing to the highest power.
/// - A power that was averaged over a window and is shifted by half of it takes an eighth of the
///   window from each end.
/// - Samples of a power that is either low or high err by two standard errors, its range divided by
///   the root of their number.
/// @param power_range_w highest less lowest power
Uncertainty uncertainty_of(const Timing& timing, double power_max_w, double power_range_w);

/// `at least 2 s`: rounded up to two digits.
std::string at_least(double shortest_run_s);

}  // namespace bench::energy
