#pragma once

#include <optional>

#include <bench/base/value.hpp>

namespace bench::numbers {

/// The one rule for numbers: values with a numeric type, and texts that `type: float` accepts. So a
/// pattern without a type is shown, repeated and compared as if it had one. Beyond the range of a
/// double the number is zero or infinite.
std::optional<double> number_of(const Value& value);

/// The same, where there is a value and its number is finite.
std::optional<double> finite_number(const std::optional<Value>& value);

/// The same as a value with a numeric type: an integer where it is written as one.
std::optional<Value> numeric_value(const Value& value);

}  // namespace bench::numbers
