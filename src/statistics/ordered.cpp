#include "ordered.hpp"

#include "number.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/value.hpp>
#include <bench/statistics/statistics.hpp>

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

double middle_of(std::vector<double> reals) {
  std::ranges::sort(reals);
  const std::size_t upper = reals.size() / 2;
  const std::size_t lower = (reals.size() - 1) / 2;
  return reals[lower] + (reals[upper] - reals[lower]) / 2;
}

/// The probability that of n draws, each a success with `chance`, at least `least` are.
double at_least(std::size_t least, std::size_t n, double chance) {
  if (chance >= 1)
    return 1;
  const auto log_factorial = [](std::size_t k) { return std::lgamma(static_cast<double>(k) + 1); };
  double sum = 0;
  for (std::size_t k = least; k <= n; ++k)
    sum += std::exp(log_factorial(n) - log_factorial(k) - log_factorial(n - k) +
                    static_cast<double>(k) * std::log(chance) +
                    static_cast<double>(n - k) * std::log1p(-chance));
  return sum;
}

/// The smallest of n values, by its number from 0, that the `rank`-th smallest of n values drawn
/// from them is at most with this probability.
std::size_t quantile_of_rank(std::size_t rank, std::size_t n, double probability) {
  const auto is_less_probable = [&](std::size_t k) {
    return at_least(rank, n, static_cast<double>(k + 1) / static_cast<double>(n)) < probability;
  };
  const auto numbers = std::views::iota(std::size_t{0}, n - 1);
  return static_cast<std::size_t>(std::ranges::partition_point(numbers, is_less_probable) -
                                  numbers.begin());
}

/// Of the ascending values, the one at the elbow of their distribution function.
std::optional<std::size_t> position_of_elbow(Values values, const Numbers& numbers) {
  if (has_nan(numbers))
    return std::nullopt;
  const std::vector<double> ordered = ordered_reals(values);
  const double range = ordered.back() - ordered.front();
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

constexpr double tail = 0.025;

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
  return ordered[below] + (place - static_cast<double>(below)) * (ordered[above] - ordered[below]);
}

Value median_absolute_deviation(Values values, const Numbers* numbers) {
  if (has_nan(*numbers))
    return not_a_number;
  std::vector<double> distances = ordered_reals(values);
  const double middle = middle_of(distances);
  for (double& distance : distances)
    distance = std::fabs(distance - middle);
  return middle_of(std::move(distances));
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
  const std::size_t n = values.size();
  if (has_nan(*numbers) || n == 1)
    return not_a_number;
  return ordered_reals(values)[quantile_of_rank((n + 1) / 2, n, tail)];
}

Value median_interval_high(Values values, const Numbers* numbers) {
  const std::size_t n = values.size();
  if (has_nan(*numbers) || n == 1)
    return not_a_number;
  return ordered_reals(values)[quantile_of_rank(n / 2 + 1, n, 1 - tail)];
}

}  // namespace bench::statistics
