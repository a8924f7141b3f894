#include "dialect.hpp"

#include <algorithm>

namespace bench::analyse {
namespace {

constexpr std::string_view hexadecimal = "0123456789abcdefABCDEF";

/// The length of `{,n}` at the start of `text`, 0 where it is something else.
std::size_t open_repeat_length(std::string_view text) {
  if (!text.starts_with("{,"))
    return 0;
  const std::size_t end = text.find_first_not_of("0123456789", 2);
  return end != std::string_view::npos && end > 2 && text[end] == '}' ? end + 1 : 0;
}

/// Translates the escape at the start of `text` and says how long it was.
std::size_t translate_escape(std::string_view text, bool in_class, std::string& pcre) {
  const char letter = text.size() > 1 ? text[1] : '\0';
  const std::size_t digits = letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
  if (digits > 0 && text.size() >= 2 + digits &&
      text.substr(2, digits).find_first_not_of(hexadecimal) == std::string_view::npos) {
    pcre.append("\\x{").append(text.substr(2, digits)).append("}");
    return 2 + digits;
  }
  const std::size_t length = std::min<std::size_t>(text.size(), 2);
  if (letter == 'Z' && !in_class)
    pcre += "\\z";
  else if (letter == 'v')
    pcre += "\\x0b";
  else
    pcre += text.substr(0, length);
  return length;
}

}  // namespace

std::string to_pcre(std::string_view python) {
  std::string pcre;
  bool in_class = false;
  std::size_t class_start = 0;
  for (std::size_t i = 0; i < python.size();) {
    const std::string_view rest = python.substr(i);
    if (rest.front() == '\\') {
      i += translate_escape(rest, in_class, pcre);
      continue;
    }
    if (const std::size_t length = in_class ? 0 : open_repeat_length(rest)) {
      pcre.append("{0").append(rest.substr(1, length - 1));
      i += length;
      continue;
    }
    if (!in_class && rest.front() == '[') {
      in_class = true;
      class_start = i + (rest.starts_with("[^") ? 2 : 1);  // A `]` there is an ordinary one.
    } else if (in_class && rest.front() == ']' && i != class_start) {
      in_class = false;
    }
    pcre += rest.front();
    ++i;
  }
  return pcre;
}

}  // namespace bench::analyse
