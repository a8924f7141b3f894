#include "number.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <variant>

#include <bench/base/integer.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/numbers/number.hpp>

namespace bench::numbers {

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

double to_real(const Value& number) {
  struct Reader {
    double operator()(long long integer) const { return static_cast<double>(integer); }
    double operator()(double real) const { return real; }
    double operator()(const std::string& digits) const {
      return parse_number(digits).value_or(std::numeric_limits<double>::infinity());
    }
  };
  return std::visit(Reader{}, number);
}

bool is_less(const Value& a, const Value& b) {
  if (std::holds_alternative<double>(a) || std::holds_alternative<double>(b))
    return to_real(a) < to_real(b);
  const auto* small_a = std::get_if<long long>(&a);
  const auto* small_b = std::get_if<long long>(&b);
  return small_a && small_b ? *small_a < *small_b : compare_integers(to_text(a), to_text(b)) < 0;
}

}  // namespace bench::numbers
