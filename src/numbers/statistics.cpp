#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <boost/math/distributions/binomial.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/numbers/reals.hpp>
#include <bench/numbers/statistics.hpp>

namespace bench::numbers {
namespace {

/// Of a value that is a number, or digits beyond 64 bits.
double to_real(const Value& number) {
  return number_of(number).value();
}

/// Integers beyond 64 bits are strings of digits.
bool is_less(const Value& a, const Value& b) {
  if (std::holds_alternative<double>(a) || std::holds_alternative<double>(b))
    return to_real(a) < to_real(b);
  const auto* small_a = std::get_if<long long>(&a);
  const auto* small_b = std::get_if<long long>(&b);
  return small_a && small_b ? *small_a < *small_b : compare_integers(to_text(a), to_text(b)) < 0;
}

using boost::multiprecision::cpp_int;

/// The distance from the mean, in deviations, that the farthest of n normal values exceeds with
/// this probability.
double critical_distance(std::size_t count, double probability) {
  const auto n = static_cast<double>(count);
  const double t = student_quantile(n - 2, 1 - probability / n);
  return (n - 1) * t / std::sqrt((n - 2 + t * t) * n);
}

/// The number of outliers among the values.
Value count_of_outliers(std::span<const Value> values, const Numbers*) {
  const std::vector<bool> are = outliers(values);
  return static_cast<long long>(std::ranges::count(are, true));
}

/// Statistics of values in order. All are reals, and `nan` if one of the values is.
using Values = std::span<const Value>;

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
    const double middle = numbers::mean(ordered);
    const double low = middle - half;
    return {ordered.front() >= 0 ? std::max(low, 0.0) : low, middle + half};
  }
  constexpr double tail = 0.025;
  const boost::math::binomial below_median(static_cast<double>(n), 0.5);
  const auto cut = static_cast<std::size_t>(quantile(below_median, tail));
  return {ordered[cut], ordered[n - 1 - cut]};
}

/// The middle one, or the mean of both.
Value median(Values values, const Numbers* numbers) {
  if (has_nan(*numbers))
    return numbers->sum2;
  std::vector<Value> ordered(values.begin(), values.end());
  const std::size_t upper = ordered.size() / 2;
  const std::size_t lower = (ordered.size() - 1) / 2;
  std::ranges::sort(ordered, is_less);
  return numbers_of(Values(ordered).subspan(lower, upper - lower + 1)).avg;
}

/// The value below which `percent` of the values lie, between neighbours linear: definition 7 of
/// Hyndman and Fan, The American Statistician 50 (1996) 361, as numpy's and R's default.
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

/// Median of the distances from the median, not scaled.
Value median_absolute_deviation(Values values, const Numbers* numbers) {
  if (has_nan(*numbers))
    return not_a_number;
  std::vector<double> distances = ordered_reals(values);
  const double middle = numbers::median(distances);
  if (!std::isfinite(middle))
    return not_a_number;
  for (double& distance : distances)
    distance = std::fabs(distance - middle);
  return numbers::median(std::move(distances));
}

/// Where the distribution function of the values stops rising steeply, and the share of the values
/// up to there: the point that lies highest above the line from the smallest value and 0 to the
/// largest and 1. Satopaa et al., Finding a "Kneedle" in a Haystack, ICDCS Workshops (2011) 166.
///
/// `nan` where that height may be chance, at 5 % by the one-sided Kolmogorov-Smirnov test against
/// values that are spread evenly, sqrt(-ln(0.05) / (2n)): then there is no clear elbow.
Value elbow(Values values, const Numbers* numbers) {
  const auto position = position_of_elbow(values, *numbers);
  return position ? ordered_reals(values)[*position] : not_a_number;
}

Value elbow_share(Values values, const Numbers* numbers) {
  const auto position = position_of_elbow(values, *numbers);
  return position ? static_cast<double>(*position + 1) / static_cast<double>(values.size())
                  : not_a_number;
}

/// All of them ascending, as one text with blanks between: what a distribution function is made of.
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

/// Ends of the interval in which the median lies with 95 % confidence. From six values on it is
/// that of the sign test, between two of the values: exact for every continuous distribution. David
/// and Nagaraja, Order Statistics (2003), 7.1. Fewer values cannot enclose the median so often
/// (three: 75 %, five: 94 %). There it is Student's for the mean, which is the median of values
/// that are about normal. The percentiles of the bootstrap are shorter, and too short: 75 % of
/// three values, 88 % of seven, 91 % of thirteen. `nan` of one value.
Value median_interval_low(Values values, const Numbers* numbers) {
  return interval_of_median(values, *numbers).low;
}

Value median_interval_high(Values values, const Numbers* numbers) {
  return interval_of_median(values, *numbers).high;
}

/// Sums without rounding errors on the way.
struct ExactSums {
  Value sum;
  Value sum2;  ///< Of the squares.
  double avg = 0;
};

/// `mantissa` times ten to the power of `exponent`.
struct Decimal {
  cpp_int mantissa;
  int exponent = 0;
};

Decimal decimal_of(double real) {
  char buffer[32];
  const char* end =
      std::to_chars(buffer, buffer + sizeof buffer, real, std::chars_format::scientific).ptr;
  const char* e = std::find(static_cast<const char*>(buffer), end, 'e');
  Decimal number;
  std::from_chars(e + (e[1] == '+' ? 2 : 1), end, number.exponent);
  std::string digits(static_cast<const char*>(buffer), e);
  if (const auto point = digits.find('.'); point != std::string::npos) {
    number.exponent -= static_cast<int>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  long long mantissa = 0;  // 17 digits at most
  std::from_chars(digits.data(), digits.data() + digits.size(), mantissa);
  number.mantissa = mantissa;
  return number;
}

Decimal decimal_of(const Value& number) {
  if (const auto* integer = std::get_if<long long>(&number))
    return {.mantissa = *integer};
  if (const auto* digits = std::get_if<std::string>(&number))
    return {.mantissa = cpp_int(*digits)};
  return decimal_of(std::get<double>(number));
}

cpp_int power_of_ten(int exponent) {
  return cpp_int('1' + std::string(static_cast<std::size_t>(exponent), '0'));
}

/// The double that is nearest to a decimal number.
double nearest(const std::string& digits, int exponent) {
  if (const auto number = parse_number(fmt::format("{}e{}", digits, exponent)))
    return *number;
  const bool is_large = static_cast<int>(digits.size()) + exponent > 0;
  const double magnitude = is_large ? std::numeric_limits<double>::infinity() : 0;
  return digits.starts_with('-') ? -magnitude : magnitude;
}

/// Nearest to `sum` / `count`: far more digits than a double has, and one that says whether there
/// are others behind them.
double mean(const cpp_int& sum, int exponent, std::size_t count) {
  constexpr int more_digits = 40;
  const cpp_int dividend = sum * power_of_ten(more_digits);
  const cpp_int quotient = dividend / count;
  const bool is_rest = dividend % count != 0;
  return nearest(quotient.str() + (is_rest ? "1" : "0"), exponent - more_digits - 1);
}

/// The sums of numbers, of which there is at least one. Integers, also those beyond 64 bits that
/// are texts, have integers as sums. A real counts as the shortest decimal number that reads back
/// as it: 0.1 and 0.2 make 0.3.
/// @returns nothing where a number is not finite
std::optional<ExactSums> exact_sums(std::span<const Value> numbers) {
  std::vector<Decimal> decimals;
  decimals.reserve(numbers.size());
  bool integers = true;
  for (const Value& number : numbers) {
    if (const auto* real = std::get_if<double>(&number)) {
      integers = false;
      if (!std::isfinite(*real))
        return std::nullopt;
    }
    decimals.push_back(decimal_of(number));
  }
  const int exponent = std::ranges::min(decimals, {}, &Decimal::exponent).exponent;
  cpp_int sum;
  cpp_int sum2;
  for (Decimal& one : decimals) {
    if (one.exponent > exponent)
      one.mantissa *= power_of_ten(one.exponent - exponent);
    sum += one.mantissa;
    sum2 += one.mantissa * one.mantissa;
  }
  const double avg = mean(sum, exponent, numbers.size());
  if (integers)
    return ExactSums{to_value(sum.str(), ValueType::integer),
                     to_value(sum2.str(), ValueType::integer), avg};
  return ExactSums{nearest(sum.str(), exponent), nearest(sum2.str(), 2 * exponent), avg};
}

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

std::optional<double> number_of(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return as_number(text ? to_value(*text, ValueType::real) : value);
}

std::optional<double> finite_number(const std::optional<Value>& value) {
  const auto number = value ? number_of(*value) : std::nullopt;
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<Value> numeric_value(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (!text)
    return value;
  if (const auto integer = parse_integer(*text))
    return *integer;
  return number_of(value);
}

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
    std::vector<double> remaining;
    for (const std::size_t k : left)
      remaining.push_back(reals[k]);
    const Moments moments = moments_of(remaining);
    const auto distance = [&](std::size_t k) { return std::fabs(reals[k] - moments.mean); };
    const auto at = std::ranges::max_element(left, {}, distance);
    if (distance(*at) > std::sqrt(moments.variance) * critical_distance(left.size(), false_alarms))
      found = farthest.size() + 1;
    farthest.push_back(*at);
    left.erase(at);
  }
  for (std::size_t k = 0; k < found; ++k)
    are[farthest[k]] = true;
  return are;
}

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

}  // namespace bench::numbers
