#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <bench/base/error.hpp>

namespace bench::result {

/// A Python format specification taken apart:
/// `[[fill]align][sign][z][#][0][width][,|_][.precision][type]`.
struct FormatSpec {
  std::string fill = " ";  ///< One character, in UTF-8.
  char align = 0;          ///< One of `< > = ^`; 0: not said.
  char sign = 0;           ///< One of `+ -` and blank; 0: not said, which is `-`.
  bool no_negative_zero = false;
  bool alternate = false;
  bool zero_padded = false;  ///< A 0 before the width.
  std::size_t width = 0;
  char grouping = 0;  ///< `,` or `_`; 0: none.
  std::optional<int> precision;
  char type = 0;  ///< 0: not said.

  bool has_type(std::string_view types) const {
    return type != 0 && types.find(type) != std::string_view::npos;
  }
};

/// @throws Error at `place` if `text` is not a format specification
FormatSpec parse_format_spec(const std::string& text, const Place& place);

/// The first character of `utf8`, or empty at its end.
std::string_view first_character(std::string_view utf8);

}  // namespace bench::result
