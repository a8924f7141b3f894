#pragma once

#include <cstddef>
#include <span>

namespace bench::steps {

/// Summary of samples, in the unit of the samples.
struct Statistics {
  std::size_t count = 0;
  double min = 0;
  double mean = 0;
  double median = 0;  ///< Mean of the two middle samples where their number is even.
  double max = 0;
  double standard_deviation = 0;  ///< Of the sample (n - 1); 0 where there is one sample.
};

/// @throws std::invalid_argument if there are no samples
Statistics statistics(std::span<const double> samples);

/// @throws std::invalid_argument if there are no samples
double median(std::span<const double> samples);

/// The value that a share of the samples does not exceed, 0.95 for the 95th percentile: between two
/// samples on a straight line, as in NumPy. Hyndman and Fan, Sample Quantiles in Statistical
/// Packages (The American Statistician 50, 1996), definition 7.
/// @throws std::invalid_argument if there are no samples, or the share is not from 0 to 1
double quantile(std::span<const double> samples, double share);

}  // namespace bench::steps
