#include "exact_sums.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>
#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>

namespace bench::statistics {
namespace {

using boost::multiprecision::cpp_int;

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

}  // namespace

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

}  // namespace bench::statistics
