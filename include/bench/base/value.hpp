#pragma once

#include <optional>
#include <string>
#include <variant>

namespace bench {

/// A typed value of a parameter or pattern: what tables sort, format and print.
using Value = std::variant<long long, double, std::string>;

/// The types that a parameter or pattern can declare; any other word in the input means string.
enum class ValueType { string, integer, real };

/// `int`, `float`, else string.
ValueType value_type(const std::string& word);

/// `text` converted to `type`. An integer is truncated as in JUBE (`3.7` is 3) and keeps every
/// digit, beyond 64 bits as a string; both take `nan`, `inf`, `1_000`. Other text stays a string.
Value to_value(const std::string& text, ValueType type);

/// The number; nothing of a text.
std::optional<double> as_number(const Value& value);

/// As Python's `str` writes it: `7`, `2.0`, `1e-05`, the string itself.
std::string to_text(const Value& value);

}  // namespace bench
