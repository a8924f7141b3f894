#include "data/text_words.hpp"

#include "data/character_class.hpp"

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

struct WordsCase {
  std::string name;
  std::string text;
  std::vector<std::string> words;
};
void PrintTo(const WordsCase& c, std::ostream* out) {
  *out << c.name;
}
class TextWordsTest : public testing::TestWithParam<WordsCase> {};

TEST_P(TextWordsTest, AreThoseOfGpt2) {
  std::vector<std::string> words;
  for_each_word(GetParam().text, [&](std::string_view word) { words.emplace_back(word); });
  EXPECT_EQ(words, GetParam().words);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, TextWordsTest,
    testing::Values(
        WordsCase{"Empty", "", {}},
        WordsCase{"SpaceBeforeAWord", "Hello world", {"Hello", " world"}},
        WordsCase{"SeveralSpaces", "a   b", {"a", "  ", " b"}},
        WordsCase{"SpacesAtTheEnd", "a  ", {"a", "  "}}, WordsCase{"OneSpace", " ", {" "}},
        WordsCase{"LineEnds", "a\n\n b\n\nc", {"a", "\n\n", " b", "\n", "\n", "c"}},
        WordsCase{"ShortForms", "it's we'll DON'T", {"it", "'s", " we", "'ll", " DON", "'", "T"}},
        WordsCase{"NumbersAndSigns",
                  "2 o'clock!!! x=3",
                  {"2", " o", "'", "clock", "!!!", " x", "=", "3"}},
        WordsCase{"SignsKeepApostrophes", "!'s", {"!'", "s"}},
        WordsCase{"Accents", "\u00e9l\u00e8ve 42\u00bd", {"\u00e9l\u00e8ve", " 42\u00bd"}},
        WordsCase{"Ideographs", "\u65e5\u672c\u8a9e\u3002", {"\u65e5\u672c\u8a9e", "\u3002"}},
        WordsCase{"SpaceThatDoesNotBreak", "a\u00a0b", {"a", "\u00a0", "b"}},
        WordsCase{"InvalidBytes", "\xff\xc3 ok", {"\xff\xc3", " ok"}}),
    [](const auto& test) { return test.param.name; });

struct CharacterCase {
  std::string name;
  std::string text;
  char32_t code;
  std::size_t bytes;
  CharacterClass of;
};
void PrintTo(const CharacterCase& c, std::ostream* out) {
  *out << c.name;
}
class CharacterTest : public testing::TestWithParam<CharacterCase> {};

TEST_P(CharacterTest, HasACodeAndAClass) {
  const Character character = next_character(GetParam().text);
  EXPECT_EQ(character.code, GetParam().code);
  EXPECT_EQ(character.bytes, GetParam().bytes);
  EXPECT_EQ(character_class(character.code), GetParam().of);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, CharacterTest,
    testing::Values(CharacterCase{"Ascii", "ab", 'a', 1, CharacterClass::letter},
                    CharacterCase{"Digit", "7", '7', 1, CharacterClass::number},
                    CharacterCase{"Tab", "\t", '\t', 1, CharacterClass::space},
                    CharacterCase{"TwoBytes", "\u00df", 0xdf, 2, CharacterClass::letter},
                    CharacterCase{"ThreeBytes", "\u2003", 0x2003, 3, CharacterClass::space},
                    CharacterCase{"FourBytes", "\U0001f600", 0x1f600, 4, CharacterClass::other},
                    CharacterCase{"LastLetter", "\U0003134a", 0x3134a, 4, CharacterClass::letter},
                    CharacterCase{"CutShort", "\xe2\x80", 0xfffd, 1, CharacterClass::other},
                    CharacterCase{"TooLong", "\xe0\x80\x80", 0xfffd, 1, CharacterClass::other},
                    CharacterCase{"Surrogate", "\xed\xa0\x80", 0xfffd, 1, CharacterClass::other}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bench::steps
