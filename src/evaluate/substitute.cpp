#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/evaluate/substitute.hpp>

namespace bench::evaluate {
namespace {

constexpr int rounds = 6;  // five, and one last

bool begins_name(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

bool continues_name(char c) {
  return begins_name(c) || (c >= '0' && c <= '9');
}

/// The meaning of a `$`.
struct Token {
  std::string_view name = {};  ///< Of `$name` and `${name}`; empty for anything else.
  std::size_t length = 1;      ///< Bytes from the `$` on.
  bool is_escape = false;      ///< `$$`.
};

/// The longest name at the front; empty if there is none.
std::string_view leading_name(std::string_view text) {
  if (text.empty() || !begins_name(text[0]))
    return {};
  const auto end = std::find_if_not(text.begin(), text.end(), continues_name);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

/// `text` begins with `$`.
Token token_at(std::string_view text) {
  if (text.substr(1, 1) == "$")
    return {.length = 2, .is_escape = true};
  if (text.substr(1, 1) != "{") {
    const std::string_view name = leading_name(text.substr(1));
    return {.name = name, .length = 1 + name.size()};
  }
  const std::string_view name = leading_name(text.substr(2));
  if (name.empty() || text.substr(2 + name.size(), 1) != "}")
    return {};
  return {.name = name, .length = 3 + name.size()};
}

/// Calls `plain` with the text between tokens and `token` with each token and its own text.
template <class Plain, class OnToken>
void scan(std::string_view text, const Plain& plain, const OnToken& token) {
  while (!text.empty()) {
    const auto at = std::min(text.find('$'), text.size());
    plain(text.substr(0, at));
    text.remove_prefix(at);
    if (text.empty())
      return;
    const Token found = token_at(text);
    token(found, text.substr(0, found.length));
    text.remove_prefix(found.length);
  }
}

/// Between the rounds `$$` means a `$` that takes no part any more; the `$` of an inserted
/// value is written so, too.
void append_value(std::string& text, std::string_view value) {
  for (const char c : value)
    text.append(c == '$' ? 2 : 1, c);
}

struct Round {
  std::string text;
  bool replaced = false;
  bool left_over = false;  ///< A `$` is left that a next round may complete to a name.
  bool has_escape = false;
};

Round substitute_once(std::string_view text, const Lookup& lookup) {
  Round round;
  round.text.reserve(text.size());
  scan(
      text, [&](std::string_view plain) { round.text += plain; },
      [&](const Token& token, std::string_view written) {
        const std::string* value = token.name.empty() ? nullptr : lookup(token.name);
        if (value) {
          append_value(round.text, *value);
          round.replaced = true;
          round.has_escape |= value->find('$') != std::string::npos;
        } else {
          round.text += written;
          round.has_escape |= token.is_escape;
          round.left_over |= !token.is_escape;
        }
      });
  return round;
}

std::string unescape(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  scan(
      text, [&](std::string_view piece) { plain += piece; },
      [&](const Token& token, std::string_view written) {
        plain += token.is_escape ? "$" : written;
      });
  return plain;
}

}  // namespace

std::string substitute(std::string_view text, const Lookup& lookup) {
  if (text.find('$') == std::string_view::npos)
    return std::string(text);
  Round round = substitute_once(text, lookup);
  for (int k = 1; k < rounds && round.replaced && round.left_over; ++k)
    round = substitute_once(round.text, lookup);
  return round.has_escape ? unescape(round.text) : round.text;
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  scan(
      text, [](std::string_view) {},
      [&](const Token& token, std::string_view) {
        if (!token.name.empty() && std::ranges::find(names, token.name) == names.end())
          names.emplace_back(token.name);
      });
  return names;
}

std::string escape_all_but(std::string_view text, const std::vector<std::string>& names) {
  std::string escaped;
  scan(
      text, [&](std::string_view plain) { escaped += plain; },
      [&](const Token& token, std::string_view written) {
        if (std::ranges::find(names, token.name) != names.end())
          escaped += written;
        else
          append_value(escaped, written);
      });
  return escaped;
}

std::string number_names(std::string_view text, std::string_view name, int& count) {
  std::string numbered;
  scan(
      text, [&](std::string_view plain) { numbered += plain; },
      [&](const Token& token, std::string_view written) {
        if (token.name == name)
          numbered += fmt::format("${{{}_{}}}", name, ++count);
        else
          numbered += written;
      });
  return numbered;
}

}  // namespace bench::evaluate
