#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>

#include <fmt/core.h>

namespace bench::steps {

/// A text in quotes, with what JSON does not allow in it escaped.
std::string json_string(std::string_view text);

/// A bool, a number or a text as JSON writes it; null for what is not a finite number.
/// @param value the digits of a floating point number are those that the log has
template <typename Value>
std::string json_value(const Value& value) {
  if constexpr (std::is_floating_point_v<Value>)
    return std::isfinite(value) ? fmt::format("{:.9g}", value) : "null";
  else if constexpr (std::is_arithmetic_v<Value>)
    return fmt::format("{}", value);
  else
    return json_string(fmt::format("{}", value));
}

}  // namespace bench::steps
