#pragma once

#include <span>

namespace bench::steps {

/// The value that a share of the samples does not exceed, 0.95 for the 95th percentile: between two
/// samples on a straight line, as in NumPy. Hyndman and Fan, Sample Quantiles in Statistical
/// Packages (The American Statistician 50, 1996), definition 7.
/// @throws std::invalid_argument if there are no samples, or the share is not from 0 to 1
double quantile(std::span<const double> samples, double share);

}  // namespace bench::steps
