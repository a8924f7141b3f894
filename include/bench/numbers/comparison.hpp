#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench::numbers {

/// One measured value.
struct Measurement {
  double value = 0;
  double start_unix_s = 0;  ///< When its program started; NaN if unknown.
  std::size_t run = 0;      ///< Equal for the values of one run.
};

/// One side of a comparison: the values of one metric at one point.
using Sample = std::vector<Measurement>;

/// Confidence level of every interval. It allows half of the promised false alarms (1 %), because
/// real noise (drift, outliers) deviates from theory.
constexpr double verdict_confidence = 0.995;

/// A relative interval: 0.01 is 1 %.
struct Interval {
  double low = 0;
  double high = 0;
};

/// The change from sample `a` to sample `b`, relative to `a`.
///
/// The middle of a sample is its mean without outliers, a geometric one if all values are positive,
/// so that half and twice are equally far. The interval is Welch's (Biometrika 34 (1947) 28).
///
/// No relative change leads away from 0. If all values of `a` are 0, the change and its interval
/// are relative to `b`.
///
/// If a side has several runs, the means of the runs are compared, too, and the wider interval
/// counts: the values of one run may share effects that vary between runs.
struct Comparison {
  std::size_t values_a = 0;
  std::size_t values_b = 0;
  std::size_t not_finite_a = 0;  ///< How many of them are nan or infinite.
  std::size_t not_finite_b = 0;
  double a = 0;  ///< Middle, in the unit of the values.
  double b = 0;
  double change = 0;          ///< (b - a) / |a|
  bool is_from_zero = false;  ///< All values of `a` are 0, and some of `b` are not.
  Interval interval;          ///< Interval of the change; infinite if the spread is unknown.
  /// The probability that a value of `b` is above one of `a`, equal ones counting half: the A
  /// measure of Vargha and Delaney, J. Educ. Behav. Stat. 25 (2000) 101.
  double superiority = 0.5;
  /// p-value: the probability that noise alone moves the middles this far apart. It orders the
  /// comparisons of a table (`decide`); people see the interval.
  double chance = 1;
  double spread = 0;  ///< Standard deviation of a value, relative; the mean of both sides.
  std::size_t fewest =
      0;  ///< Size of the smaller side, in values, or in runs if their means were used.
  std::size_t outliers = 0;   ///< Values that were left out.
  std::size_t counted_a = 0;  ///< Values that were not.
  std::size_t counted_b = 0;
  /// One side was measured after the other, so that a drift of the machine looks like a change.
  bool one_after_other = false;
  /// The values drift in the direction of the change, one side was measured after the other, and
  /// without the drift the change is not certain.
  bool may_be_drift = false;
  /// The change of the values that people see (`shown_change`), if those are others than the
  /// middles. A verdict never contradicts them.
  std::optional<double> shown_change = {};
  std::string absent_reason;  ///< Why no change can be computed; empty if it can.
};

/// (b - a) / |a|; infinite from 0, except to 0.
double relative_change(double a, double b);

/// If a value is nan or infinite, there is no middle and no change.
/// @param a, b in the order in which they were measured
Comparison compare(std::span<const Measurement> a, std::span<const Measurement> b);

enum class Word { higher, lower, equal, no_evidence, too_few_runs, not_finite };

/// Why a change that is certain on its own is not accepted.
enum class Objection {
  none,
  drift,             ///< The machine may have drifted (`Comparison::may_be_drift`).
  many_comparisons,  ///< With this many comparisons, chance alone can produce such a change.
  shown_values,      ///< The values that are shown differ otherwise than the middles.
};

/// Upper limit of the reported number of runs.
constexpr std::size_t most_runs = 10'000;

struct Verdict {
  Word word = Word::no_evidence;
  Objection objection = Objection::none;
  /// For too few runs: how many are needed on each side if effect and spread stay the same; 0:
  /// unknown. Above `most_runs`: more than that.
  std::size_t runs_needed = 0;

  bool operator==(const Verdict&) const = default;
};

/// Judges all comparisons of one table.
///
/// - higher, lower: the change is at least the margin, and certain: its interval excludes none.
///   Certain among all comparisons of the table: Holm, Scand. J. Statist. 6 (1979) 65.
/// - equal: the interval lies within the margin.
/// - too few runs: neither, and more runs would decide.
/// - not finite: some values are nan or infinite, so that there is nothing to compare.
/// - no evidence: neither, although the interval is no wider than the margin: the change is about
///   as large as the margin. Or there is an `Objection`.
///
/// @param margin the smallest change that matters, 0.01 is 1 %
std::vector<Verdict> decide(std::span<const Comparison> comparisons, double margin);

}  // namespace bench::numbers
