#pragma once

#include <span>
#include <vector>

namespace bench::numbers {

// Statistics of plain numbers.

/// @param values at least one
double mean(std::span<const double> values);
/// The mean of the two in the middle where there is no single one.
/// @param values at least one
double median(std::vector<double> values);

/// Mean and sample variance (n-1).
struct Moments {
  double mean = 0;
  double variance = 0;  ///< 0 of fewer than two values.
};

/// Welford, Technometrics 4 (1962) 419.
Moments moments_of(std::span<const double> values);

/// Half the width of the interval in which the mean of the population lies with 95 % confidence, in
/// the unit of the values: t(0.975, n-1) s / sqrt(n), for values that are about normal. Student,
/// Biometrika 6 (1908) 1. Infinite for fewer than two values.
double mean_halfwidth(std::span<const double> values);

/// The quantile of Student's distribution that an interval of this probability, centred, reaches.
double student_quantile(double degrees_of_freedom, double probability);

}  // namespace bench::numbers
