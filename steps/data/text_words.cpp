#include "data/text_words.hpp"

#include "data/character_class.hpp"

#include <cstddef>
#include <functional>
#include <string_view>

namespace bench::steps {
namespace {

constexpr std::string_view endings[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};

CharacterClass class_of(std::string_view text) {
  return character_class(next_character(text).code);
}

/// Bytes of the characters of one class that a text begins with.
std::size_t run_of(CharacterClass wanted, std::string_view text) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Character character = next_character(text.substr(bytes));
    if (character_class(character.code) != wanted)
      break;
    bytes += character.bytes;
  }
  return bytes;
}

/// Bytes of the spaces that a text begins with, without the last one if more text follows.
std::size_t word_of_spaces(std::string_view text) {
  const std::size_t all = run_of(CharacterClass::space, text);
  if (all == text.size())
    return all;
  std::size_t last = 0;  // where the last one begins
  for (std::size_t at = 0; at < all; at += next_character(text.substr(at)).bytes)
    last = at;
  return last > 0 ? last : all;
}

/// Bytes of the first word.
std::size_t word_length(std::string_view text) {
  for (const std::string_view ending : endings)
    if (text.starts_with(ending))
      return ending.size();
  const std::size_t space = text.front() == ' ' && text.size() > 1 ? 1 : 0;
  const CharacterClass wanted = class_of(text.substr(space));
  if (wanted != CharacterClass::space)
    return space + run_of(wanted, text.substr(space));
  return word_of_spaces(text);
}

}  // namespace

void for_each_word(std::string_view text, const std::function<void(std::string_view word)>& use) {
  while (!text.empty()) {
    const std::size_t length = word_length(text);
    use(text.substr(0, length));
    text.remove_prefix(length);
  }
}

}  // namespace bench::steps
