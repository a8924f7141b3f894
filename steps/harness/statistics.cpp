#include "harness/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace bench::steps {

double median(std::span<const double> samples) {
  if (samples.empty())
    throw std::invalid_argument("the median of no samples");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

Statistics statistics(std::span<const double> samples) {
  if (samples.empty())
    throw std::invalid_argument("the statistics of no samples");
  const auto count = static_cast<double>(samples.size());
  Statistics result;
  result.count = samples.size();
  result.min = *std::min_element(samples.begin(), samples.end());
  result.max = *std::max_element(samples.begin(), samples.end());
  result.median = median(samples);
  result.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : samples)
    squares += (sample - result.mean) * (sample - result.mean);
  result.standard_deviation = samples.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  return result;
}

double quantile(std::span<const double> samples, double share) {
  if (samples.empty() || !(share >= 0 && share <= 1))
    throw std::invalid_argument("a quantile needs samples and a share from 0 to 1");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace bench::steps
