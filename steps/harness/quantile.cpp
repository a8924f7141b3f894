#include "harness/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

namespace bench::steps {

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
