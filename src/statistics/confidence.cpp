#include <cmath>
#include <limits>
#include <span>

#include <boost/math/distributions/students_t.hpp>

#include <bench/statistics/confidence.hpp>

namespace bench::statistics {

double mean_halfwidth(std::span<const double> values) {
  if (values.size() < 2)
    return std::numeric_limits<double>::infinity();
  const auto count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values)
    mean += value / count;
  double squares = 0;
  for (const double value : values)
    squares += (value - mean) * (value - mean);
  if (!std::isfinite(squares))
    return std::numeric_limits<double>::infinity();
  constexpr double upper = 0.975;
  const double quantile = boost::math::quantile(boost::math::students_t(count - 1), upper);
  return quantile * std::sqrt(squares / (count - 1) / count);
}

}  // namespace bench::statistics
