#include "outliers.hpp"

#include "number.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include <bench/base/value.hpp>
#include <bench/numbers/reals.hpp>
#include <bench/numbers/statistics.hpp>

namespace bench::statistics {
namespace {

struct Moments {
  double mean = 0;
  double deviation = 0;  ///< Of the sample, n-1.
};

Moments moments_of(const std::vector<double>& values, const std::vector<std::size_t>& left) {
  const auto n = static_cast<double>(left.size());
  Moments moments;
  for (const std::size_t k : left)
    moments.mean += values[k] / n;
  for (const std::size_t k : left)
    moments.deviation += (values[k] - moments.mean) * (values[k] - moments.mean) / (n - 1);
  moments.deviation = std::sqrt(moments.deviation);
  return moments;
}

/// The distance from the mean, in deviations, that the farthest of n normal values exceeds with
/// this probability.
double critical_distance(std::size_t count, double probability) {
  const auto n = static_cast<double>(count);
  const double t = student_quantile(n - 2, 1 - probability / n);
  return (n - 1) * t / std::sqrt((n - 2 + t * t) * n);
}

}  // namespace

std::vector<bool> outliers(std::span<const Value> values, double false_alarms) {
  std::vector<double> reals;
  for (const Value& value : values)
    reals.push_back(to_real(value));
  std::vector<bool> are(reals.size());
  if (!std::ranges::all_of(reals, [](double real) { return std::isfinite(real); }))
    return are;
  std::vector<std::size_t> left(reals.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  std::vector<std::size_t> farthest;  // one after the other
  std::size_t found = 0;              // how many of these are outliers
  const std::size_t most = std::clamp<std::size_t>(reals.size() / 4, 1, 25);
  while (farthest.size() < most && left.size() > 2) {
    const Moments moments = moments_of(reals, left);
    const auto distance = [&](std::size_t k) { return std::fabs(reals[k] - moments.mean); };
    const auto at = std::ranges::max_element(left, {}, distance);
    if (distance(*at) > moments.deviation * critical_distance(left.size(), false_alarms))
      found = farthest.size() + 1;
    farthest.push_back(*at);
    left.erase(at);
  }
  for (std::size_t k = 0; k < found; ++k)
    are[farthest[k]] = true;
  return are;
}

Value count_of_outliers(std::span<const Value> values, const Numbers*) {
  const std::vector<bool> are = outliers(values);
  return static_cast<long long>(std::ranges::count(are, true));
}

}  // namespace bench::statistics
