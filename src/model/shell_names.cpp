#include "shell_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::model {
namespace {

bool is_of_name(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/// A letter that is not ASCII belongs to a word, though to no name.
bool is_of_word(char c) {
  return is_of_name(c) || (c & 0x80) != 0;
}

bool is_name(std::string_view word) {
  return !word.empty() && !(word[0] >= '0' && word[0] <= '9') &&
         std::ranges::all_of(word, is_of_name);
}

/// The words of each simple command, `for i in a; do read x` as `for i in a` and `do read x`.
std::vector<std::vector<std::string>> commands_of(std::string_view text) {
  std::vector<std::vector<std::string>> commands(1);
  std::string word;
  const auto end_word = [&] {
    if (!word.empty())
      commands.back().push_back(std::exchange(word, ""));
  };
  for (const char c : text) {
    const bool ends_command = std::string_view(";\n|&(){}`").find(c) != std::string_view::npos;
    if (ends_command || c == ' ' || c == '\t') {
      end_word();
      if (ends_command)
        commands.emplace_back();
    } else {
      word += c;
    }
  }
  end_word();
  return commands;
}

/// `read x` of `do read x`.
std::span<const std::string> without_keywords(const std::vector<std::string>& command) {
  constexpr std::array<std::string_view, 8> before{"do",    "then",  "else", "if",
                                                   "while", "until", "!",    "time"};
  const auto first = std::ranges::find_if(command, [&](const std::string& word) {
    return std::ranges::find(before, word) == before.end();
  });
  return {first, command.end()};
}

}  // namespace

bool defines_unseen(std::string_view text) {
  constexpr std::array<std::string_view, 4> builtins{".", "source", "eval", "module"};
  return std::ranges::any_of(commands_of(text), [&](const auto& command) {
    const auto words = without_keywords(command);
    return !words.empty() && std::ranges::find(builtins, words.front()) != builtins.end();
  });
}

std::vector<std::string> loop_variables(std::string_view text) {
  std::vector<std::string> names;
  for (const auto& command : commands_of(text)) {
    const std::span words = without_keywords(command);
    if (words.size() < 2)
      continue;
    if (words[0] == "read")
      std::ranges::copy_if(words.subspan(1), std::back_inserter(names), is_name);
    else if ((words[0] == "for" || words[0] == "select") && is_name(words[1]) &&
             (words.size() == 2 || words[2] == "in"))
      names.push_back(words[1]);
  }
  return names;
}

std::set<std::string> bare_words(std::string_view text) {
  std::set<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_of_word(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_of_word(text[at]))
      ++at;
    const bool plain = begin > 0 && text[begin - 1] == '$';
    const bool braced = begin > 1 && text[begin - 1] == '{' && text[begin - 2] == '$';
    if (!plain && !braced)
      words.emplace(text.substr(begin, at - begin));
  }
  return words;
}

std::vector<std::string> broken_names(std::string_view text) {
  std::vector<std::string> names;
  for (auto at = text.find('$'); at != std::string_view::npos; at = text.find('$', at)) {
    const std::size_t begin = at + 1 + (text.substr(at + 1, 1) == "{" ? 1 : 0);
    at = begin;
    while (at < text.size() && is_of_word(text[at]))
      ++at;
    const std::string_view word = text.substr(std::min(begin, text.size()), at - begin);
    if (!std::ranges::all_of(word, is_of_name))
      names.emplace_back(word);
  }
  return names;
}

}  // namespace bench::model
