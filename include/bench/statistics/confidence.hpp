#pragma once

#include <span>

namespace bench::statistics {

/// Half the width of the interval in which the mean of the population lies with 95 % confidence, in
/// the unit of the values: t(0.975, n-1) s / sqrt(n), for values that are about normal. Student,
/// Biometrika 6 (1908) 1. Infinite for fewer than two values.
double mean_halfwidth(std::span<const double> values);

}  // namespace bench::statistics
