#include "value.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>
#include <fmt/core.h>

#include <bench/base/text.hpp>

namespace bench::document {
namespace {

using boost::multiprecision::cpp_int;

constexpr std::string_view decimal = "0123456789";

/// Python refuses to convert longer integers; they stay as written.
constexpr std::size_t longest_integer = 4300;

bool only(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

bool begins_with_digit(std::string_view text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

bool take_sign(std::string_view& text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+'))
    text.remove_prefix(1);
  return negative;
}

std::string signed_text(bool negative, const std::string& magnitude) {
  return negative && magnitude != "0" ? "-" + magnitude : magnitude;
}

std::optional<std::string> number_in_base(std::string_view digits, unsigned base) {
  constexpr std::string_view alphabet = "0123456789abcdef";
  const std::string plain = to_lower(replace_all(std::string(digits), "_", ""));
  if (plain.empty() || plain.size() > longest_integer)
    return std::nullopt;
  cpp_int number;
  for (const char c : plain)
    number = number * base + static_cast<unsigned>(alphabet.find(c));
  return number.str();
}

/// True for the minutes and seconds of `12:30:00`: 0 to 59, one or two digits.
bool is_sixtieth(std::string_view part) {
  return !part.empty() && part.size() <= 2 && only(part, decimal) &&
         (part.size() == 1 || part[0] <= '5');
}

/// The pieces of `12:30:00`, or none.
std::vector<std::string> sixtieths(std::string_view text) {
  std::vector<std::string> parts = split(text, ":");
  const bool valid = parts.size() > 1 && begins_with_digit(parts[0]) &&
                     only(parts[0], "0123456789_") &&
                     std::all_of(parts.begin() + 1, parts.end(), is_sixtieth);
  if (!valid)
    return {};
  parts[0] = replace_all(parts[0], "_", "");
  return parts;
}

std::optional<std::string> sexagesimal_integer(std::string_view text) {
  const std::vector<std::string> parts = sixtieths(text);
  if (parts.empty() || text.size() > longest_integer)
    return std::nullopt;
  cpp_int number;
  for (const char c : parts[0])
    number = number * 10 + (c - '0');
  for (std::size_t k = 1; k < parts.size(); ++k)
    number = number * 60 + *parse_integer(parts[k]);
  return number.str();
}

std::optional<std::string> magnitude(std::string_view text) {
  if (!begins_with_digit(text))
    return std::nullopt;
  if (text == "0")
    return "0";
  if (text.starts_with("0b"))
    return only(text.substr(2), "01_") ? number_in_base(text.substr(2), 2) : std::nullopt;
  if (text.starts_with("0x"))
    return only(text.substr(2), "0123456789abcdefABCDEF_") ? number_in_base(text.substr(2), 16)
                                                           : std::nullopt;
  if (text[0] == '0')
    return only(text, "01234567_") ? number_in_base(text, 8) : std::nullopt;
  if (only(text, "0123456789_"))
    return replace_all(std::string(text), "_", "");
  return sexagesimal_integer(text);
}

std::optional<std::string> integer(std::string_view text) {
  const bool negative = take_sign(text);
  const auto number = magnitude(text);
  return number ? std::optional(signed_text(negative, *number)) : std::nullopt;
}

/// The digits before an exponent such as `e+3`; nothing if an `e` begins no exponent.
std::optional<std::string_view> mantissa(std::string_view text) {
  const auto at = text.find_first_of("eE");
  if (at == std::string_view::npos)
    return text;
  const std::string_view exponent = text.substr(at + 1);
  const bool valid = exponent.size() >= 2 && (exponent[0] == '+' || exponent[0] == '-') &&
                     only(exponent.substr(1), decimal);
  return valid ? std::optional(text.substr(0, at)) : std::nullopt;
}

double to_double(std::string_view text) {
  const std::string plain = replace_all(std::string(text), "_", "");
  if (const auto value = parse_number(plain))
    return *value;
  // All that can fail is the range.
  return plain.find("e-") != std::string::npos || plain.find("E-") != std::string::npos
             ? 0.0
             : std::numeric_limits<double>::infinity();
}

/// `1:30.5` is 90.5, summed from the right as PyYAML does.
std::optional<double> sexagesimal_real(std::string_view text) {
  const auto point = text.find('.');
  if (point == std::string_view::npos || !only(text.substr(point + 1), "0123456789_"))
    return std::nullopt;
  std::vector<std::string> parts = sixtieths(text.substr(0, point));
  if (parts.empty())
    return std::nullopt;
  parts.back() += text.substr(point);
  double sum = 0;
  double base = 1;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part, base *= 60)
    sum += to_double(*part) * base;
  return sum;
}

std::optional<double> unsigned_real(std::string_view text, bool has_sign) {
  if (text.find(':') != std::string_view::npos)
    return sexagesimal_real(text);
  const auto digits = mantissa(text);
  if (!digits)
    return std::nullopt;
  const auto point = digits->find('.');
  if (point == std::string_view::npos || !only(digits->substr(0, point), "0123456789_") ||
      !only(digits->substr(point + 1), "0123456789_"))
    return std::nullopt;
  // `-.5` is a string in YAML 1.1, `.5` is not.
  const bool valid =
      point == 0 ? !has_sign && begins_with_digit(digits->substr(1)) : begins_with_digit(*digits);
  return valid ? std::optional(to_double(text)) : std::nullopt;
}

std::optional<std::string> real(std::string_view text) {
  if (one_of(text, {".nan", ".NaN", ".NAN"}))
    return "nan";
  std::string_view rest = text;
  const bool negative = take_sign(rest);
  if (one_of(rest, {".inf", ".Inf", ".INF"}))
    return negative ? "-inf" : "inf";
  const auto value = unsigned_real(rest, rest.size() != text.size());
  return value ? std::optional(python_float(negative ? -*value : *value)) : std::nullopt;
}

/// Takes between `least` and `most` digits off the front; -1 where there are fewer.
int take_number(std::string_view& text, std::size_t least, std::size_t most) {
  std::size_t length = 0;
  while (length < most && begins_with_digit(text.substr(length)))
    ++length;
  if (length < least)
    return -1;
  const int value = static_cast<int>(parse_integer(text.substr(0, length)).value_or(0));
  text.remove_prefix(length);
  return value;
}

bool take(std::string_view& text, std::string_view set) {
  if (text.empty() || set.find(text[0]) == std::string_view::npos)
    return false;
  text.remove_prefix(1);
  return true;
}

std::string_view take_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

/// `.5` as Python writes it, `.500000`; empty for a whole second.
std::string fraction(std::string_view& text) {
  if (!take(text, "."))
    return "";
  const auto length = std::min(text.find_first_not_of(decimal), text.size());
  std::string digits(text.substr(0, std::min<std::size_t>(length, 6)));
  text.remove_prefix(length);
  digits.resize(6, '0');
  return digits == "000000" ? "" : "." + digits;
}

/// The zone as Python writes it, `+01:00`; empty for none. Nothing if it is not one.
std::optional<std::string> zone(std::string_view text) {
  if (text.empty())
    return "";
  text = take_blanks(text);
  if (text == "Z")
    return "+00:00";
  const bool west = text.starts_with('-');
  if (!take(text, "+-"))
    return std::nullopt;
  const int hours = take_number(text, 1, 2);
  const int minutes = take(text, ":") ? take_number(text, 2, 2) : 0;
  if (!text.empty() || hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
    return std::nullopt;
  return fmt::format("{}{:02}:{:02}", west && hours + minutes > 0 ? '-' : '+', hours, minutes);
}

/// `2024-1-2t3:04:05Z` as `2024-01-02 03:04:05+00:00`. A bare date needs no conversion.
std::optional<std::string> timestamp(std::string_view text) {
  const int year = take_number(text, 4, 4);
  const int month = take(text, "-") ? take_number(text, 1, 2) : -1;
  const int day = take(text, "-") ? take_number(text, 1, 2) : -1;
  const bool blank = text.starts_with(' ') || text.starts_with('\t');
  if (blank)
    text = take_blanks(text);
  else if (!take(text, "Tt"))
    return std::nullopt;
  const int hour = take_number(text, 1, 2);
  const int minute = take(text, ":") ? take_number(text, 2, 2) : -1;
  const int second = take(text, ":") ? take_number(text, 2, 2) : -1;
  if (year < 1 || month < 1 || day < 1 || hour < 0 || minute < 0 || second < 0)
    return std::nullopt;
  const std::string below_second = fraction(text);
  const auto offset = zone(text);
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!offset || !date.ok() || hour > 23 || minute > 59 || second > 59)
    return std::nullopt;
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}{}{}", year, month, day, hour, minute,
                     second, below_second, *offset);
}

bool is_true_or_false(std::string_view word) {
  const std::string lower = to_lower(word);
  return lower == "true" || lower == "false";
}

/// True for an integer that is written in another way than people read it: `010`, `0x1F`, `1_2`.
bool is_other_integer(std::string_view text, std::string_view value) {
  take_sign(text);
  take_sign(value);
  return text != value;
}

/// True for a decimal that loses digits, such as the version `1.10`. `.5` and `1.` lose none. A
/// number with an exponent is always meant as a number.
bool loses_digits(std::string_view text, std::string_view value) {
  take_sign(text);
  take_sign(value);
  if (!begins_with_digit(value) || text.find_first_of("eE") != std::string_view::npos)
    return false;
  return (text.starts_with('.') ? "0" : "") + std::string(text) +
             (text.ends_with('.') ? "0" : "") !=
         value;
}

}  // namespace

std::optional<PlainScalar> plain_scalar(std::string_view text) {
  if (one_of(text, {"", "~", "null", "Null", "NULL"}))
    return std::nullopt;
  if (one_of(text, {"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}))
    return PlainScalar{.text = "True", .is_surprising = !is_true_or_false(text)};
  if (one_of(text, {"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}))
    return PlainScalar{.text = "False", .is_surprising = !is_true_or_false(text)};
  if (!begins_with_digit(text) && text.find_first_of("+-.") != 0)
    return PlainScalar{.text = std::string(text)};
  const bool is_sexagesimal = text.find(':') != std::string_view::npos;
  if (const auto number = integer(text))
    return PlainScalar{.text = *number,
                       .type = ScalarType::integer,
                       .is_surprising = is_sexagesimal || is_other_integer(text, *number)};
  if (const auto number = real(text))
    return PlainScalar{.text = *number,
                       .type = ScalarType::real,
                       .is_surprising = is_sexagesimal || loses_digits(text, *number)};
  if (const auto time = timestamp(text))
    return PlainScalar{.text = *time};
  const bool has_exponent = text.find_first_of("eE") != std::string_view::npos;
  return PlainScalar{
      .text = std::string(text),
      .type = has_exponent && parse_number(text) ? ScalarType::real : ScalarType::text};
}

std::string with_whole_characters(const std::string& text) {
  std::string whole;
  whole.reserve(text.size());
  int due = 0;  // bytes of a character that has begun
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continues = (byte & 0xC0) == 0x80;
    if (continues && due == 0)
      whole += '\xC2';
    if (continues)
      due = std::max(due - 1, 0);
    else
      due = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : byte >= 0xC0 ? 1 : 0;
    whole += c;
  }
  return whole;
}

}  // namespace bench::document
