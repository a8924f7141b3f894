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

}  // namespace bench::steps
