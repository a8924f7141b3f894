#include "exact_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <bench/base/integer.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/statistics/statistics.hpp>

namespace bench::statistics {
namespace {

double to_real(const Value& value) {
  struct Reader {
    double operator()(long long integer) const { return static_cast<double>(integer); }
    double operator()(double real) const { return real; }
    double operator()(const std::string& digits) const {
      return parse_number(digits).value_or(std::numeric_limits<double>::infinity());
    }
  };
  return std::visit(Reader{}, value);
}

/// Integers beyond 64 bits are strings of digits.
bool is_less(const Value& a, const Value& b) {
  if (std::holds_alternative<double>(a) || std::holds_alternative<double>(b))
    return to_real(a) < to_real(b);
  const auto* small_a = std::get_if<long long>(&a);
  const auto* small_b = std::get_if<long long>(&b);
  return small_a && small_b ? *small_a < *small_b : compare_integers(to_text(a), to_text(b)) < 0;
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

using Values = std::span<const Value>;

/// The middle one, or the mean of both.
Value median(Values values, const Numbers* numbers) {
  if (std::isnan(to_real(numbers->sum2)))
    return numbers->sum2;
  std::vector<Value> ordered(values.begin(), values.end());
  const std::size_t upper = ordered.size() / 2;
  const std::size_t lower = (ordered.size() - 1) / 2;
  std::ranges::sort(ordered, is_less);
  return numbers_of(Values(ordered).subspan(lower, upper - lower + 1)).avg;
}

constexpr std::array<Statistic, 11> all{{
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
