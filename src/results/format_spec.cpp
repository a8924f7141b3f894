#include "format_spec.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include <fmt/core.h>

#include <bench/base/error.hpp>

namespace bench::result {
namespace {

/// Wider cells are mistakes: the number of digits that Python itself accepts would fill the memory.
constexpr std::size_t largest_number = 10'000;

class Reader {
 public:
  Reader(const std::string& text, const Place& place) : text_(text), rest_(text), place_(place) {}

  FormatSpec read() {
    FormatSpec spec;
    read_alignment(spec);
    if (const char sign = take("+- "))
      spec.sign = sign;
    spec.no_negative_zero = take("z") != 0;
    spec.alternate = take("#") != 0;
    spec.zero_padded = take("0") != 0;
    if (spec.zero_padded && !fill_given_)
      spec.fill = "0";
    spec.width = read_number().value_or(0);
    spec.grouping = take(",_");
    if (take(".")) {
      const auto precision = read_number();
      if (!precision)
        fail("has no digits after the point");
      spec.precision = static_cast<int>(*precision);
    }
    spec.type = take("bcdeEfFgGnosxX%");
    if (!rest_.empty())
      fail(fmt::format("is invalid at '{}'", rest_));
    return spec;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    const bool like_c = text_.starts_with('%') || text_.starts_with(':') || text_.starts_with('{');
    throw Error(fmt::format("format '{}' {}", text_, what),
                like_c ? "write it without '%', ':' and braces, for example '.2f'"
                       : "use a format of Python's format(), for example '.2f', '05d', '>10s'",
                place_);
  }

  void read_alignment(FormatSpec& spec) {
    const std::string_view fill = first_character(rest_);
    if (fill.size() < rest_.size() && is_alignment(rest_[fill.size()])) {
      spec.fill = fill;
      fill_given_ = true;
      rest_.remove_prefix(fill.size());
    }
    spec.align = take("<>=^");
  }

  static bool is_alignment(char c) { return c == '<' || c == '>' || c == '=' || c == '^'; }

  /// The next character if it is one of `allowed`, else 0.
  char take(std::string_view allowed) {
    if (rest_.empty() || allowed.find(rest_.front()) == std::string_view::npos)
      return 0;
    const char taken = rest_.front();
    rest_.remove_prefix(1);
    return taken;
  }

  std::optional<std::size_t> read_number() {
    std::optional<std::size_t> number;
    while (const char digit = take("0123456789")) {
      number = number.value_or(0) * 10 + static_cast<std::size_t>(digit - '0');
      if (*number > largest_number)
        fail(fmt::format("has a number above {}", largest_number));
    }
    return number;
  }

  const std::string& text_;
  std::string_view rest_;
  const Place& place_;
  bool fill_given_ = false;
};

}  // namespace

std::string_view first_character(std::string_view utf8) {
  constexpr std::size_t longest = 4;  // also of bytes that are not UTF-8
  std::size_t length = utf8.empty() ? 0 : 1;
  while (length < std::min(longest, utf8.size()) &&
         (static_cast<unsigned char>(utf8[length]) & 0xC0) == 0x80)
    ++length;
  return utf8.substr(0, length);
}

FormatSpec parse_format_spec(const std::string& text, const Place& place) {
  return Reader(text, place).read();
}

}  // namespace bench::result
