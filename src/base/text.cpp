#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>
#include <utf8.h>

#include <bench/base/text.hpp>

namespace bench {
namespace {

constexpr std::string_view white_space = " \t\n\r\f\v";

/// `from_chars` knows no plus sign.
std::string_view without_plus(std::string_view text) {
  return text.starts_with('+') && !text.starts_with("+-") ? text.substr(1) : text;
}

constexpr char escape = '\\';

bool is_special(char c) {
  return c == ',' || c == escape;
}

/// A control character beyond ASCII, or one that changes the direction of what follows it, so that
/// a terminal shows another order than that of the bytes.
bool is_wide_control(char32_t code) {
  return (code >= 0x80 && code < 0xA0) || code == 0x061C || code == 0x200E || code == 0x200F ||
         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string_view strip(std::string_view text) {
  const auto first = text.find_first_not_of(white_space);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(white_space) - first + 1);
}

std::string one_line(std::string_view text) {
  std::string line;
  for (text = strip(text); !text.empty(); text = strip(text)) {
    const auto word = text.substr(0, text.find_first_of(white_space));
    line.append(line.empty() ? "" : " ").append(word);
    text.remove_prefix(word.size());
  }
  return line;
}

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> pieces;
  if (!separator.empty())
    for (auto at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
      pieces.emplace_back(text.substr(0, at));
      text.remove_prefix(at + separator.size());
    }
  pieces.emplace_back(text);
  return pieces;
}

std::vector<std::string> split_values(std::string_view text, std::string_view separator) {
  std::vector<std::string> values = split(text, separator);
  for (std::string& value : values)
    value = strip(value);
  return values;
}

std::vector<std::string> split_names(std::string_view text, std::string_view separator) {
  std::vector<std::string> names = split_values(text, separator);
  std::erase(names, "");
  return names;
}

std::string join(std::span<const std::string> pieces, std::string_view separator) {
  std::string text;
  for (const std::string& piece : pieces) {
    if (&piece != &pieces.front())
      text += separator;
    text += piece;
  }
  return text;
}

std::string escaped_item(std::string_view item) {
  std::string text;
  for (const char c : item) {
    if (is_special(c))
      text += escape;
    text += c;
  }
  return text;
}

std::vector<std::string> split_escaped(std::string_view list) {
  std::vector<std::string> items(1);
  for (std::size_t k = 0; k < list.size(); ++k)
    if (list[k] == ',')
      items.emplace_back();
    else if (list[k] == escape && k + 1 < list.size() && is_special(list[k + 1]))
      items.back() += list[++k];
    else
      items.back() += list[k];
  for (std::string& item : items)
    item = strip(item);
  std::erase(items, "");
  return items;
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::optional<long long> parse_integer(std::string_view text) {
  text = without_plus(text);
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    return std::nullopt;
  return value;
}

std::optional<double> parse_number(std::string_view text) {
  text = without_plus(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    return std::nullopt;
  return value;
}

bool contains_any(std::string_view text, std::span<const std::string_view> phrases) {
  return std::ranges::any_of(phrases, [&](std::string_view phrase) {
    return text.find(phrase) != std::string_view::npos;
  });
}

std::string plural(std::size_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string unique_name(const std::string& wanted, std::set<std::string>& taken, char separator) {
  std::string name = wanted;
  for (int n = 2; !taken.insert(name).second; ++n)
    name = fmt::format("{}{}{}", wanted, separator, n);
  return name;
}

std::string percent_encoded(std::string_view text, std::string_view kept) {
  constexpr std::string_view unreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string encoded;
  for (const char c : text)
    if (unreserved.find(c) != std::string_view::npos || kept.find(c) != std::string_view::npos)
      encoded += c;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return encoded;
}

std::string shell_quote(std::string_view text) {
  constexpr std::string_view safe =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=,+@%";
  if (!text.empty() && text.find_first_not_of(safe) == std::string_view::npos)
    return std::string(text);
  return "'" + replace_all(std::string(text), "'", "'\\''") + "'";
}

bool is_shell_name(std::string_view name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::ranges::all_of(name, fits);
}

std::string python_float(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  // Python switches to an exponent outside of 1e-4 <= |x| < 1e16; the digits are the same.
  const double magnitude = std::fabs(value);
  const bool plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  std::string text(buffer, end);
  if (plain && text.find('.') == std::string::npos)
    text += ".0";
  return text;
}

std::string to_valid_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (;;) {
    const auto* const invalid = utf8::find_invalid(bytes.begin(), bytes.end());
    text.append(bytes.begin(), invalid);
    if (invalid == bytes.end())
      return text;
    text += "\xEF\xBF\xBD";
    bytes = {invalid + 1, bytes.end()};
  }
}

std::string utf8_of(char32_t code) {
  std::string text;
  utf8::unchecked::append(code, std::back_inserter(text));
  return text;
}

std::string with_visible_controls(std::string_view bytes) {
  const std::string valid = to_valid_utf8(bytes);
  std::string text;
  text.reserve(valid.size());
  for (const char* at = valid.data(); at != valid.data() + valid.size();) {
    const char* begin = at;
    const char32_t code = utf8::unchecked::next(at);
    if (is_wide_control(code))
      text += fmt::format("<U+{:04X}>", static_cast<unsigned>(code));
    else if ((code < 0x20 && code != '\n' && code != '\t') || code == 0x7F)
      text.append("^").append(1, static_cast<char>(code ^ 0x40));
    else
      text.append(begin, at);
  }
  return text;
}

std::size_t display_width(std::string_view utf8) {
  std::size_t width = 0;
  for (const char c : utf8) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80)
      continue;
    // Lead bytes E3..E9 hold kana and CJK ideographs, EA..ED mostly Hangul; all are wide.
    width += byte >= 0xE3 && byte <= 0xED ? 2 : 1;
  }
  return width;
}

std::size_t bytes_of_front(const std::string& text, std::size_t columns) {
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool ends = at + 1 == text.size() || (text[at + 1] & 0xC0) != 0x80;
    if (!ends)
      continue;
    if (display_width(text.substr(0, at + 1)) > columns)
      break;
    bytes = at + 1;
  }
  return bytes;
}

}  // namespace bench
