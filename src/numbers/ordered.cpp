#include "ordered.hpp"

#include "number.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/math/distributions/binomial.hpp>

#include <bench/base/value.hpp>
#include <bench/numbers/reals.hpp>
#include <bench/numbers/statistics.hpp>

namespace bench::statistics {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

bool has_nan(const Numbers& numbers) {
  return std::isnan(to_real(numbers.sum2));
}

/// Ascending.
std::vector<double> ordered_reals(Values values) {
  std::vector<double> reals;
  for (const Value& value : values)
    reals.push_back(to_real(value));
  std::ranges::sort(reals);
  return reals;
}

/// Of the ascending values, the one at the elbow of their distribution function.
std::optional<std::size_t> position_of_elbow(Values values, const Numbers& numbers) {
  if (has_nan(numbers))
    return std::nullopt;
  const std::vector<double> ordered = ordered_reals(values);
  const double range = ordered.back() - ordered.front();
  if (!std::isfinite(range))
    return std::nullopt;
  const auto n = static_cast<double>(ordered.size());
  std::size_t best = 0;
  double highest = 0;
  for (std::size_t k = 0; k < ordered.size(); ++k) {
    const double height = static_cast<double>(k + 1) / n - (ordered[k] - ordered.front()) / range;
    if (height > highest) {
      highest = height;
      best = k;
    }
  }
  constexpr double chance = 0.05;
  return highest > std::sqrt(-std::log(chance) / (2 * n)) ? std::optional(best) : std::nullopt;
}

struct Interval {
  double low = not_a_number;
  double high = not_a_number;
};

/// Fewer values than this have no two among them that enclose the median with 95 %.
constexpr std::size_t least_for_order = 6;

/// A rate or a time is never below zero, and so its interval is not either: it begins at zero at
/// the earliest where no value is negative.
Interval interval_of_median(Values values, const Numbers& numbers) {
  const std::size_t n = values.size();
  if (has_nan(numbers) || n < 2)
    return {};
  const std::vector<double> ordered = ordered_reals(values);
  if (n < least_for_order) {
    const double half = mean_halfwidth(ordered);
    const double middle = statistics::mean(ordered);
    const double low = middle - half;
    return {ordered.front() >= 0 ? std::max(low, 0.0) : low, middle + half};
  }
  constexpr double tail = 0.025;
  const boost::math::binomial below_median(static_cast<double>(n), 0.5);
  const auto cut = static_cast<std::size_t>(quantile(below_median, tail));
  return {ordered[cut], ordered[n - 1 - cut]};
}

}  // namespace

Value median(Values values, const Numbers* numbers) {
  if (has_nan(*numbers))
    return numbers->sum2;
  std::vector<Value> ordered(values.begin(), values.end());
  const std::size_t upper = ordered.size() / 2;
  const std::size_t lower = (ordered.size() - 1) / 2;
  std::ranges::sort(ordered, is_less);
  return numbers_of(Values(ordered).subspan(lower, upper - lower + 1)).avg;
}

Value percentile(Values values, const Numbers* numbers, double percent) {
  if (has_nan(*numbers))
    return not_a_number;
  const std::vector<double> ordered = ordered_reals(values);
  const double place = static_cast<double>(ordered.size() - 1) * percent / 100;
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, ordered.size() - 1);
  const double part = place - static_cast<double>(below);
  if (part == 0 || ordered[below] == ordered[above])  // infinite ones have no difference
    return ordered[below];
  return ordered[below] + part * (ordered[above] - ordered[below]);
}

Value median_absolute_deviation(Values values, const Numbers* numbers) {
  if (has_nan(*numbers))
    return not_a_number;
  std::vector<double> distances = ordered_reals(values);
  const double middle = median(distances);
  if (!std::isfinite(middle))
    return not_a_number;
  for (double& distance : distances)
    distance = std::fabs(distance - middle);
  return median(std::move(distances));
}

Value elbow(Values values, const Numbers* numbers) {
  const auto position = position_of_elbow(values, *numbers);
  return position ? ordered_reals(values)[*position] : not_a_number;
}

Value elbow_share(Values values, const Numbers* numbers) {
  const auto position = position_of_elbow(values, *numbers);
  return position ? static_cast<double>(*position + 1) / static_cast<double>(values.size())
                  : not_a_number;
}

Value ordered_text(Values values, const Numbers* numbers) {
  if (has_nan(*numbers))
    return "nan";
  std::vector<Value> ordered(values.begin(), values.end());
  std::ranges::sort(ordered, is_less);
  std::string text;
  for (const Value& value : ordered)
    text += (text.empty() ? "" : " ") + to_text(value);
  return text;
}

Value median_interval_low(Values values, const Numbers* numbers) {
  return interval_of_median(values, *numbers).low;
}

Value median_interval_high(Values values, const Numbers* numbers) {
  return interval_of_median(values, *numbers).high;
}

}  // namespace bench::statistics
