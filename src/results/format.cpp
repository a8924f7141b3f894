#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/core.h>
#include <fmt/format.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/results/format.hpp>

namespace bench::results {
namespace {

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

/// Wider cells are mistakes: the number of digits that Python itself accepts would fill the memory.
constexpr std::size_t largest_number = 10'000;

/// The first character of `utf8`, or empty at its end.
std::string_view first_character(std::string_view utf8) {
  constexpr std::size_t longest = 4;  // also of bytes that are not UTF-8
  std::size_t length = utf8.empty() ? 0 : 1;
  while (length < std::min(longest, utf8.size()) &&
         (static_cast<unsigned char>(utf8[length]) & 0xC0) == 0x80)
    ++length;
  return utf8.substr(0, length);
}

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
    throw Error(Id::invalid_expression, fmt::format("format '{}' {}", text_, what),
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

/// @throws Error at `place` if `text` is not a format specification
FormatSpec parse_format_spec(const std::string& text, const Place& place) {
  return Reader(text, place).read();
}

/// `#` promises a point: put before the exponent or at the end where there is none.
std::string with_point(std::string text) {
  if (text.find('.') == std::string::npos)
    text.insert(std::min(text.find_first_of("eE"), text.size()), 1, '.');
  return text;
}

std::string without_trailing_zeros(std::string text) {
  const std::string exponent = text.substr(std::min(text.find('e'), text.size()));
  text.resize(text.size() - exponent.size());
  if (text.find('.') != std::string::npos) {
    text.resize(text.find_last_not_of('0') + 1);
    if (text.ends_with('.'))
      text.pop_back();
  }
  return text + exponent;
}

/// `precision` significant digits, an exponent outside of 1e-4 <= x < 10^largest_exponent. Source:
/// the general format of C (ISO C17 7.21.6.1), whose largest exponent is the precision.
std::string general(double magnitude, int precision, int largest_exponent, bool keep_zeros) {
  std::string text = fmt::format("{:.{}e}", magnitude, precision - 1);
  const int exponent = std::stoi(text.substr(text.find('e') + 1));
  if (exponent >= -4 && exponent < largest_exponent)
    text = fmt::format("{:.{}f}", magnitude, precision - 1 - exponent);
  return keep_zeros ? with_point(text) : without_trailing_zeros(text);
}

/// Without a type: Python's `str`, and with a precision the general format that keeps one decimal.
std::string untyped(double magnitude, const FormatSpec& spec) {
  if (!spec.precision)
    return spec.alternate ? with_point(python_float(magnitude)) : python_float(magnitude);
  const int precision = std::max(*spec.precision, 1);
  std::string text = general(magnitude, precision, precision - 1, spec.alternate);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

std::string finite_text(double magnitude, const FormatSpec& spec) {
  const int precision = spec.precision.value_or(6);
  std::string text;
  switch (spec.type) {
    case 0:
      return untyped(magnitude, spec);
    case 'e':
    case 'E':
      text = fmt::format("{:.{}e}", magnitude, precision);
      break;
    case 'f':
    case 'F':
    case '%':
      text = fmt::format("{:.{}f}", magnitude, precision);
      break;
    default:
      return general(magnitude, std::max(precision, 1), std::max(precision, 1), spec.alternate);
  }
  return spec.alternate ? with_point(text) : text;
}

/// A number that is not negative, as `spec`'s type and precision write it: no sign, no padding, no
/// grouping.
std::string real_text(double magnitude, const FormatSpec& spec) {
  if (spec.type == '%')
    magnitude *= 100;
  std::string text = std::isfinite(magnitude) ? finite_text(magnitude, spec)
                                              : (std::isnan(magnitude) ? "nan" : "inf");
  if (spec.has_type("EFG"))
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return spec.type == '%' ? text + '%' : text;
}

constexpr std::string_view integer_types = "bcdoxX";
constexpr std::string_view real_types = "eEfFgG%";

/// A number on its way to text: `-`, `0x`, `1234`, `.5e+10`.
struct Digits {
  bool negative = false;
  std::string prefix;
  std::string whole;  ///< The digits that grouping and zeros concern.
  std::string rest;
};

std::size_t character_count(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string repeat(std::string_view text, std::size_t count) {
  std::string repeated;
  for (std::size_t i = 0; i < count; ++i)
    repeated += text;
  return repeated;
}

/// `body` padded to the width; with `=` between `head` (sign and prefix) and `body`.
std::string pad(const std::string& head, const std::string& body, const FormatSpec& spec,
                char align) {
  const std::size_t length = character_count(head) + character_count(body);
  const std::size_t missing = spec.width > length ? spec.width - length : 0;
  switch (align) {
    case '<':
      return head + body + repeat(spec.fill, missing);
    case '^':
      return repeat(spec.fill, missing / 2) + head + body +
             repeat(spec.fill, missing - missing / 2);
    case '=':
      return head + repeat(spec.fill, missing) + body;
    default:
      return repeat(spec.fill, missing) + head + body;
  }
}

/// The digits in groups, with zeros before them up to `width` characters. A group is never left
/// without a digit before its separator, so that the text may become one wider.
std::string group_digits(std::string digits, char separator, std::size_t size, std::size_t width) {
  const auto grouped_width = [&] { return digits.size() + (digits.size() - 1) / size; };
  while (grouped_width() < width)
    digits.insert(digits.begin(), '0');
  for (std::size_t at = digits.size(); at > size; at -= size)
    digits.insert(at - size, 1, separator);
  return digits;
}

std::string assemble(Digits digits, const FormatSpec& spec) {
  std::string head;
  if (digits.negative)
    head = "-";
  else if (spec.sign == '+' || spec.sign == ' ')
    head = spec.sign;
  head += digits.prefix;
  const char align = spec.align ? spec.align : spec.zero_padded ? '=' : '>';
  if (spec.grouping && !digits.whole.empty()) {
    const std::size_t fixed = head.size() + digits.rest.size();
    const bool zeros = align == '=' && spec.fill == "0" && spec.width > fixed;
    digits.whole = group_digits(digits.whole, spec.grouping, spec.has_type("boxX") ? 4 : 3,
                                zeros ? spec.width - fixed : 0);
  }
  return pad(head, digits.whole + digits.rest, spec, align);
}

/// Formats one value; the errors name the value and the specification.
class Formatter {
 public:
  Formatter(const Value& value, const std::string& text, const Place& place)
      : value_(value), text_(text), place_(place), spec_(parse_format_spec(text, place)) {}

  std::string format() const {
    if (spec_.has_type(integer_types))
      return format_as_integer();
    if (spec_.has_type(real_types) || spec_.has_type("n"))
      return format_as_number();
    if (const auto* text = std::get_if<std::string>(&value_))
      return format_text(*text);
    if (spec_.type == 's')
      misfit("is for strings, not for the number", "remove the 's'");
    if (const auto* integer = std::get_if<long long>(&value_))
      return format_integer(*integer);
    return format_real(std::get<double>(value_));
  }

 private:
  [[noreturn]] void misfit(const std::string& why, const std::string& hint) const {
    throw Error(Id::invalid_expression,
                fmt::format("format '{}' {} '{}'", text_, why, to_text(value_)), hint, place_);
  }

  void refuse(bool wrong, std::string_view what, std::string_view where) const {
    if (wrong)
      throw Error(Id::invalid_expression,
                  fmt::format("format '{}': {} is not allowed with {}", text_, what, where), "",
                  place_);
  }

  double real() const {
    struct AsReal {
      double operator()(long long integer) const { return static_cast<double>(integer); }
      double operator()(double number) const { return number; }
      double operator()(const std::string& text) const {
        const Value number = to_value(text, ValueType::real);
        if (const auto* parsed = std::get_if<double>(&number))
          return *parsed;
        formatter.misfit(
            "needs a number and does not fit",
            "remove the format of the column, or give the parameter or pattern a type");
      }
      const Formatter& formatter;
    };
    return std::visit(AsReal{*this}, value_);
  }

  std::string format_as_integer() const {
    if (const auto* integer = std::get_if<long long>(&value_))
      return format_integer(*integer);
    const auto integer = written_integer();
    if (!integer)
      misfit("needs an integer and does not fit", "use a format for real numbers such as '.0f'");
    if (const auto fitting = parse_integer(*integer))
      return format_integer(*fitting);
    if (spec_.type != 'd')
      misfit("does not fit a number beyond 64 bits,", "use 'd' or '.0f'");
    check_integer();
    const bool negative = integer->starts_with('-');
    return assemble({negative, "", integer->substr(negative ? 1 : 0), ""}, spec_);
  }

  /// The digits of what is no 64-bit integer, truncated.
  std::optional<std::string> written_integer() const {
    const auto* text = std::get_if<std::string>(&value_);
    const auto integer = read_integer(text ? *text : fmt::format("{:.0f}", std::trunc(real())));
    if (integer)
      return integer->digits;
    real();  // refuses a text that is not a number
    return std::nullopt;
  }

  std::string format_as_number() const {
    if (const auto* integer = std::get_if<long long>(&value_); integer && spec_.type == 'n')
      return format_integer(*integer);
    return format_real(real());
  }

  void check_integer() const {
    refuse(spec_.precision.has_value(), "a precision", "an integer");
    refuse(spec_.no_negative_zero, "'z'", "an integer");
    refuse(spec_.grouping && spec_.has_type("cn"), "grouping", "'c' and 'n'");
    refuse(spec_.grouping == ',' && spec_.has_type("boxX"), "','", "'b', 'o' and 'x'; use '_'");
  }

  std::string format_integer(long long integer) const {
    check_integer();
    if (spec_.type == 'c')
      return format_character(integer);
    Digits digits{integer < 0, "", "", ""};
    const auto bits = static_cast<unsigned long long>(integer);
    const unsigned long long magnitude = integer < 0 ? 0 - bits : bits;
    const char type = spec_.has_type("boxX") ? spec_.type : 'd';
    digits.whole = fmt::format(fmt::runtime(fmt::format("{{:{}}}", type)), magnitude);
    if (spec_.alternate && type != 'd')
      digits.prefix = {'0', type};
    return assemble(std::move(digits), spec_);
  }

  std::string format_character(long long code) const {
    refuse(spec_.sign != 0, "a sign", "'c'");
    refuse(spec_.alternate, "'#'", "'c'");
    if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
      misfit("needs the number of a character and does not fit", "use 'd'");
    return assemble({false, "", "", utf8_of(static_cast<char32_t>(code))}, spec_);
  }

  std::string format_real(double number) const {
    refuse(spec_.grouping && spec_.type == 'n', "grouping", "'n'");
    const std::string text = real_text(std::fabs(number), spec_);
    Digits digits{std::signbit(number) && !std::isnan(number), "", "", ""};
    if (spec_.no_negative_zero &&
        text.substr(0, text.find_first_of("eE")).find_first_of("123456789inIN") ==
            std::string::npos)
      digits.negative = false;
    const std::size_t whole = std::min(text.find_first_not_of("0123456789"), text.size());
    digits.whole = text.substr(0, whole);
    digits.rest = text.substr(whole);
    return assemble(std::move(digits), spec_);
  }

  std::string format_text(const std::string& text) const {
    refuse(spec_.sign != 0, "a sign", "a text");
    refuse(spec_.no_negative_zero, "'z'", "a text");
    refuse(spec_.alternate, "'#'", "a text");
    refuse(spec_.grouping != 0, "grouping", "a text");
    refuse(spec_.align == '=', "'='", "a text");
    std::string_view rest = text;
    std::string shown;
    if (spec_.precision)
      for (int i = 0; i < *spec_.precision && !rest.empty(); ++i) {
        shown += first_character(rest);
        rest.remove_prefix(first_character(rest).size());
      }
    return pad("", spec_.precision ? shown : text, spec_, spec_.align ? spec_.align : '<');
  }

  const Value& value_;
  const std::string& text_;
  const Place& place_;
  FormatSpec spec_;
};

}  // namespace

std::string format_value(const Value& value, const std::string& format, const Place& place) {
  return format.empty() ? to_text(value) : Formatter(value, format, place).format();
}

std::string short_text(double real) {
  const bool is_large = std::abs(real) >= 1e6 && std::abs(real) < 1e15;
  return is_large ? fmt::format("{:.0f}", real) : fmt::format("{:.6g}", real);
}

void check_format(const std::string& format, ValueType type, const Place& place) {
  if (format.empty())
    return;
  const bool of_number = parse_format_spec(format, place).has_type("bcdoxXeEfFgGn%");
  if (of_number || type == ValueType::integer)
    format_value(1LL, format, place);
  else if (type == ValueType::real)
    format_value(1.0, format, place);
}

}  // namespace bench::results
