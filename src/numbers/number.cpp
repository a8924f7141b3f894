#include <cmath>
#include <optional>
#include <string>
#include <variant>

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

}  // namespace bench::numbers
