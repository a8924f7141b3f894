#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <boost/math/distributions/students_t.hpp>

#include <bench/numbers/reals.hpp>

namespace bench::numbers {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  const std::size_t upper = values.size() / 2;
  const std::size_t lower = (values.size() - 1) / 2;
  std::ranges::sort(values);
  return values[lower] + (values[upper] - values[lower]) / 2;
}

Moments moments_of(std::span<const double> values) {
  double mean = 0;
  double squares = 0;
  double count = 0;
  for (const double value : values) {
    ++count;
    const double before = value - mean;
    mean += before / count;
    squares += before * (value - mean);
  }
  return {.mean = mean, .variance = count < 2 ? 0 : squares / (count - 1)};
}

double mean_halfwidth(std::span<const double> values) {
  if (values.size() < 2)
    return std::numeric_limits<double>::infinity();
  const auto count = static_cast<double>(values.size());
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values)
    squares += (value - middle) * (value - middle);
  if (!std::isfinite(squares))
    return std::numeric_limits<double>::infinity();
  constexpr double confidence = 0.95;
  return student_quantile(count - 1, confidence) * std::sqrt(squares / (count - 1) / count);
}

double student_quantile(double degrees_of_freedom, double probability) {
  return quantile(complement(boost::math::students_t(degrees_of_freedom), (1 - probability) / 2));
}

}  // namespace bench::numbers
