#include "sample_outliers.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include <bench/numbers/reals.hpp>

namespace bench::verdict {
namespace {

using Values = std::vector<double>;

Values distances(std::span<const double> sample, double from) {
  Values distances;
  for (const double value : sample)
    distances.push_back(std::fabs(value - from));
  return distances;
}

/// @param medians from which the distances are, and which cost a degree of freedom each
double deviation(Values distances, int medians) {
  constexpr double of_normal_noise = 1.4826;
  const auto n = static_cast<double>(distances.size());
  return of_normal_noise * statistics::median(std::move(distances)) * std::sqrt(n / (n - medians));
}

/// The sample's own deviation if it is clearly larger than the common one, else that one. Its own
/// is uncertain: it comes from few values, some of which may be outliers.
double deviation_of(const Values& distances, double common) {
  constexpr double clearly_wider = 2.5;
  const double own = deviation(distances, 1);
  return own > clearly_wider * common ? own : common;
}

/// Values far from the median of their own sample and not near that of the other.
std::vector<bool> far_values(std::span<const double> sample, double own, double other,
                             double deviation) {
  constexpr double far_deviations = 3.5;
  constexpr double near_deviations = 2.5;
  std::vector<bool> marks;
  for (const double value : sample)
    marks.push_back(std::fabs(value - own) > far_deviations * deviation &&
                    std::fabs(value - other) > near_deviations * deviation);
  return marks;
}

}  // namespace

Outliers outliers_of(std::span<const double> a, std::span<const double> b) {
  constexpr std::size_t fewest = 5;
  Outliers made{std::vector<bool>(a.size()), std::vector<bool>(b.size())};
  if (a.size() < fewest || b.size() < fewest)
    return made;
  const double middle_a = statistics::median({a.begin(), a.end()});
  const double middle_b = statistics::median({b.begin(), b.end()});
  const Values from_a = distances(a, middle_a);
  const Values from_b = distances(b, middle_b);
  Values all = from_a;
  std::ranges::copy(from_b, std::back_inserter(all));
  const double common = deviation(std::move(all), 2);
  if (common == 0)
    return made;
  made.in_a = far_values(a, middle_a, middle_b, deviation_of(from_a, common));
  made.in_b = far_values(b, middle_b, middle_a, deviation_of(from_b, common));
  made.count = static_cast<std::size_t>(std::ranges::count(made.in_a, true) +
                                        std::ranges::count(made.in_b, true));
  return made;
}

}  // namespace bench::verdict
