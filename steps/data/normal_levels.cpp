#include "data/normal_levels.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace bench::steps {
namespace {

/// The share of the distribution below `x`, of what lies within the cut.
double share_below(double x, double cut) {
  const double end = std::erf(cut / std::sqrt(2.0));
  return (std::erf(x / std::sqrt(2.0)) + end) / (2 * end);
}

/// The value that this share lies below, by halving.
double quantile(double share, double cut) {
  double low = -cut;
  double high = cut;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (share_below(middle, cut) < share ? low : high) = middle;
  }
  return low;
}

}  // namespace

std::vector<double> normal_levels(std::size_t count, double cut) {
  std::vector<double> levels;
  for (std::size_t i = 0; i < count; ++i)
    levels.push_back(quantile((static_cast<double>(i) + 0.5) / static_cast<double>(count), cut));
  return levels;
}

}  // namespace bench::steps
