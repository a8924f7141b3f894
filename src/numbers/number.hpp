#pragma once

#include <bench/base/value.hpp>

namespace bench::numbers {

/// Infinite for digits beyond the range of a double.
double to_real(const Value& number);

/// Integers beyond 64 bits are strings of digits.
bool is_less(const Value& a, const Value& b);

}  // namespace bench::numbers
