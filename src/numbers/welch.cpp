#include "welch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include <boost/math/distributions/students_t.hpp>

#include <bench/numbers/comparison.hpp>
#include <bench/numbers/reals.hpp>

namespace bench::verdict {
namespace {

using Student = boost::math::students_t;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// 1 / (n over k).
double one_in_choices(std::size_t n, std::size_t k) {
  const auto log_factorial = [](std::size_t of) {
    return std::lgamma(static_cast<double>(of) + 1);
  };
  return std::exp(log_factorial(k) + log_factorial(n - k) - log_factorial(n));
}

}  // namespace

void Moments::add(double value) {
  ++count_;
  const double before = value - mean_;
  mean_ += before / static_cast<double>(count_);
  squares_ += before * (value - mean_);
}

double Moments::variance() const {
  return count_ < 2 ? 0 : squares_ / static_cast<double>(count_ - 1);
}

Moments moments_of(std::span<const double> values) {
  Moments moments;
  for (const double value : values)
    moments.add(value);
  return moments;
}

bool Difference::is_certain() const {
  return std::fabs(shift) > half_width;
}

double student_tails(double degrees_of_freedom, double t) {
  return 2 * cdf(complement(Student(degrees_of_freedom), std::fabs(t)));
}

Difference difference_of(std::span<const double> a, std::span<const double> b) {
  const Moments of_a = moments_of(a);
  const Moments of_b = moments_of(b);
  Difference made{.shift = of_b.mean() - of_a.mean(),
                  .half_width = infinity,
                  .fewest = std::min(a.size(), b.size())};
  if (a.size() + b.size() < 3)
    return made;
  const auto n_a = static_cast<double>(a.size());
  const auto n_b = static_cast<double>(b.size());
  const bool is_one_alone = a.size() == 1 || b.size() == 1;
  const double known = of_a.variance() + of_b.variance();  // the variance of a single value is 0
  const double error_a = (is_one_alone ? known : of_a.variance()) / n_a;
  const double error_b = (is_one_alone ? known : of_b.variance()) / n_b;
  made.deviation = std::sqrt(is_one_alone ? known : known / 2);
  const double error = error_a + error_b;
  if (error == 0) {
    const double sorted = std::min(1.0, 2 * one_in_choices(a.size() + b.size(), a.size()));
    made.chance = made.shift == 0 ? 1 : sorted;
    made.half_width = sorted <= 1 - confidence ? 0 : infinity;
    return made;
  }
  if (!std::isfinite(error))
    return made;
  // By shares of the error: the square of a tiny error would be 0.
  const double share_a = error_a / error;
  const double share_b = error_b / error;
  const double freedom = is_one_alone
                             ? std::max(n_a, n_b) - 1
                             : 1 / (share_a * share_a / (n_a - 1) + share_b * share_b / (n_b - 1));
  made.half_width = statistics::student_quantile(freedom, confidence) * std::sqrt(error);
  made.chance = student_tails(freedom, made.shift / std::sqrt(error));
  return made;
}

}  // namespace bench::verdict
