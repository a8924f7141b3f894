#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace bench::verdict {

/// One measured value.
struct Measurement {
  double value = 0;
  double start_unix_s = 0;  ///< When its program started; not a number: unknown.
  std::size_t run = 0;      ///< Equal for the values of one run.
};

/// One side of a comparison: the values of one metric at one point.
using Sample = std::vector<Measurement>;

/// How certain a change must be before it is called one: the level of every interval. Half of the
/// false alarms that are promised (1 %), because no theory knows all noise: drift, outliers.
constexpr double confidence = 0.995;

/// A relative interval: 0.01 is 1 %.
struct Interval {
  double low = 0;
  double high = 0;
};

/// What two samples say about the change from `a` to `b`. Its numbers are relative to `a`.
///
/// The middle of a sample is its mean without outliers (outliers.hpp), a geometric one where all
/// values are positive, so that half and twice are equally far. The interval is Welch's (Biometrika
/// 34 (1947) 28).
///
/// Where a side has several runs, the means of the runs are compared, too, and the wider interval
/// counts: the values of one run may have in common what another run does not repeat.
struct Comparison {
  std::size_t values_a = 0;
  std::size_t values_b = 0;
  double a = 0;  ///< Middle, in the unit of the values.
  double b = 0;
  double change = 0;  ///< (b - a) / |a|
  Interval interval;  ///< Of the change. Infinite where the spread is unknown.
  /// The probability that a value of `b` is above one of `a`, equal ones counting half: the A
  /// measure of Vargha and Delaney, J. Educ. Behav. Stat. 25 (2000) 101.
  double superiority = 0.5;
  /// How often noise alone would move the middles this far apart. It orders the comparisons of a
  /// table (`decide`); a person needs the interval.
  double chance = 1;
  double spread = 0;         ///< Standard deviation of a value, relative; the mean of both sides.
  std::size_t fewest = 0;    ///< Values of the smaller side, or runs where their means counted.
  std::size_t outliers = 0;  ///< Values that were left out.
  /// One side was measured behind the other, so that a drift of the machine looks like a change.
  bool one_after_other = false;
  /// The values drift in the direction of the change, one side was measured after the other, and
  /// without the drift the change is not certain.
  bool may_be_drift = false;
  std::string absent_reason;  ///< Why there is no change to speak of; empty: there is.
};

/// @param a, b finite values in the order in which they were measured
Comparison compare(std::span<const Measurement> a, std::span<const Measurement> b);

}  // namespace bench::verdict
