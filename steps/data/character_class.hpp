#pragma once

#include <cstddef>
#include <string_view>

namespace bench::steps {

/// Classes of characters by which text is divided into words.
enum class CharacterClass { letter, number, space, other };

/// By Unicode: the general categories L and N, and the property White_Space.
CharacterClass character_class(char32_t character);

/// A character of UTF-8.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
};

/// The first character of a text. A byte that is not valid UTF-8 is one character, U+FFFD.
/// @param text not empty
Character next_character(std::string_view text);

}  // namespace bench::steps
