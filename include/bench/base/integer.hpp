#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bench {

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
