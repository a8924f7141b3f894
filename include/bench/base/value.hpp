#pragma once

#include <optional>
#include <string>
#include <string_view>
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

/// An integer of any size, read from text.
struct WrittenInteger {
  std::string digits;    ///< A minus sign where it is negative, no zero in front.
  bool is_whole = true;  ///< False where a fraction was cut off.
};

/// The integer that a decimal number stands for, truncated towards zero, without the loss of a
/// digit: `7`, `+1_000`, `1e30`, `3.7`. Nothing for any other text, `nan` and `inf` included.
std::optional<WrittenInteger> read_integer(std::string_view text);

/// Negative, zero or positive as `a` is smaller than, equal to or greater than `b`. Both are
/// integers as `read_integer` writes them.
int compare_integers(std::string_view a, std::string_view b);

/// `text` without the underscores that stand between two digits, which Python's `int` and `float`
/// skip.
std::string without_digit_separators(std::string_view text);

}  // namespace bench
