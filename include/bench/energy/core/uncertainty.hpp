#pragma once

#include <string>

namespace bench::energy {

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
