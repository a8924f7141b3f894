#pragma once

#include <cstddef>
#include <span>

namespace bench::verdict {

/// Running mean and variance: Welford, Technometrics 4 (1962) 419.
class Moments {
 public:
  void add(double value);
  std::size_t count() const { return count_; }
  double mean() const { return mean_; }
  /// Sample variance (n-1); 0 for one value.
  double variance() const;

 private:
  std::size_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

Moments moments_of(std::span<const double> values);

/// The mean of b minus that of a, with its uncertainty.
struct Difference {
  double shift = 0;
  double half_width =
      0;  ///< Half width of the interval at `confidence`; infinite if the spread is unknown.
  double chance = 1;       ///< Two-sided.
  double deviation = 0;    ///< Of a value: the root of the mean variance of both sides.
  std::size_t fewest = 0;  ///< Values of the smaller side.

  bool is_certain() const;
};

/// Welch's test. If one side is a single value, the spread of the other is used for both. If
/// neither side has any spread, the p-value is that of a permutation test: 2 / C(na + nb, na).
/// @param a, b at least one value each
Difference difference_of(std::span<const double> a, std::span<const double> b);

/// The probability of Student's distribution beyond `-t` and `t`.
double student_tails(double degrees_of_freedom, double t);

}  // namespace bench::verdict
