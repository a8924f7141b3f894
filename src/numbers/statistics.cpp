#include "exact_sums.hpp"
#include "number.hpp"
#include "ordered.hpp"
#include "outliers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <bench/base/value.hpp>
#include <bench/numbers/number.hpp>
#include <bench/numbers/statistics.hpp>

namespace bench::statistics {
namespace {

/// What deviations are computed from.
struct Sums {
  double sum = 0;
  double sum2 = 0;
  double avg = 0;
};

double deviation(std::span<const double> values, const Sums& sums) {
  constexpr double least_share = 1e-6;
  const auto count = static_cast<double>(values.size());
  double squares = std::fabs(sums.sum2 - sums.sum * sums.sum / count);
  if (!(squares > least_share * sums.sum2)) {
    squares = 0;
    for (const double value : values)
      squares += (value - sums.avg) * (value - sums.avg);
  }
  return std::sqrt(squares / (count - 1));
}

/// The n-th root of the product; 0 if one of them is 0, `nan` if one is below.
Value geometric_mean(Values values, const Numbers*) {
  double logarithms = 0;
  for (const Value& value : values)
    logarithms += std::log(to_real(value));
  return std::exp(logarithms / static_cast<double>(values.size()));
}

/// The deviation as a share of the mean.
Value coefficient_of_variation(Values, const Numbers* numbers) {
  return to_real(numbers->std) / std::fabs(to_real(numbers->avg));
}

template <int percent>
Value percentile_of(Values values, const Numbers* numbers) {
  return percentile(values, numbers, percent);
}

constexpr std::array<Statistic, 25> all{{
    {"", false, true, true, OfDefault::the_default,
     [](Values values, const Numbers*) { return values.front(); }},
    {"_first", false, true, true, OfDefault::the_default,
     [](Values values, const Numbers*) { return values.front(); }},
    {"_last", false, true, true, OfDefault::the_default,
     [](Values values, const Numbers*) { return values.back(); }},
    {"_cnt", false, false, false, OfDefault::zero,
     [](Values values, const Numbers*) { return Value(static_cast<long long>(values.size())); }},
    {"_min", true, true, true, OfDefault::the_default,
     [](Values, const Numbers* numbers) { return numbers->min; }},
    {"_max", true, true, true, OfDefault::the_default,
     [](Values, const Numbers* numbers) { return numbers->max; }},
    {"_sum", true, true, true, OfDefault::the_default,
     [](Values, const Numbers* numbers) { return numbers->sum; }},
    {"_sum2", true, false, true, OfDefault::absent,
     [](Values, const Numbers* numbers) { return numbers->sum2; }},
    {"_avg", true, true, false, OfDefault::the_default,
     [](Values, const Numbers* numbers) { return numbers->avg; }},
    {"_std", true, true, false, OfDefault::zero,
     [](Values, const Numbers* numbers) { return numbers->std; }},
    {"_median", true, true, false, OfDefault::the_default, median, true},
    {"_p5", true, true, false, OfDefault::the_default, percentile_of<5>, true},
    {"_p25", true, true, false, OfDefault::the_default, percentile_of<25>, true},
    {"_p75", true, true, false, OfDefault::the_default, percentile_of<75>, true},
    {"_p95", true, true, false, OfDefault::the_default, percentile_of<95>, true},
    {"_p99", true, true, false, OfDefault::the_default, percentile_of<99>, true},
    {"_geomean", true, true, false, OfDefault::the_default, geometric_mean, true},
    {"_cv", true, false, false, OfDefault::zero, coefficient_of_variation, true},
    {"_mad", true, true, false, OfDefault::zero, median_absolute_deviation, true},
    {"_outliers", true, false, false, OfDefault::zero, count_of_outliers, true},
    {"_elbow", true, true, false, OfDefault::absent, elbow, true},
    {"_elbow_share", true, false, false, OfDefault::absent, elbow_share, true},
    {"_ordered", true, true, false, OfDefault::absent, ordered_text, true},
    {"_ci_low", true, true, false, OfDefault::the_default, median_interval_low, true},
    {"_ci_high", true, true, false, OfDefault::the_default, median_interval_high, true},
}};

}  // namespace

Numbers numbers_of(std::span<const Value> values) {
  std::vector<double> reals;
  Sums sums;
  for (const Value& value : values) {
    const double real = reals.emplace_back(to_real(value));
    sums.sum += real;
    sums.sum2 += real * real;
  }
  sums.avg = sums.sum / static_cast<double>(reals.size());
  Numbers numbers{sums.sum2, sums.sum2, sums.sum, sums.sum2, sums.avg, 0LL};
  if (!std::isnan(sums.sum2)) {
    const auto [min, max] = std::minmax_element(values.begin(), values.end(), is_less);
    numbers.min = *min;
    numbers.max = *max;
  }
  if (const auto exact = exact_sums(values)) {
    numbers.sum = exact->sum;
    numbers.sum2 = exact->sum2;
    numbers.avg = exact->avg;
    if (!std::holds_alternative<double>(exact->sum))
      sums = {to_real(exact->sum), to_real(exact->sum2), exact->avg};
  }
  if (reals.size() > 1)
    numbers.std = deviation(reals, sums);
  return numbers;
}

std::span<const Statistic> statistics() {
  return all;
}

std::optional<Value> of_one_value(const Statistic& statistic, const Value& value) {
  if (!statistic.of_numbers && std::holds_alternative<std::string>(value))
    return statistic.compute({&value, 1}, nullptr);
  const auto number = numeric_value(value);
  if (!number)
    return std::nullopt;
  const Numbers numbers = numbers_of({&*number, 1});
  return statistic.compute({&*number, 1}, &numbers);
}

const Statistic* statistic_of(std::string_view name) {
  const Statistic* found = nullptr;
  for (const Statistic& one : all)
    if (!one.suffix.empty() && name.ends_with(one.suffix) &&
        (!found || one.suffix.size() > found->suffix.size()))
      found = &one;
  return found;
}

std::string_view without_suffix(std::string_view name) {
  if (const Statistic* statistic = statistic_of(name))
    name.remove_suffix(statistic->suffix.size());
  return name;
}

}  // namespace bench::statistics
