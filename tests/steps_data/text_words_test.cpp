#include "data/byte_pair_encoding.hpp"

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
        WordsCase{"InvalidBytes", "a\xff\xc3 ok\xfe", {"a", "\xff\xc3", " ok", "\xfe"}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bench::steps
