#include "data/byte_pair_encoding.hpp"

#include "data/files.hpp"
#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/corpus.hpp"
#include "support/message_of.hpp"

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::steps {
namespace {

struct WordsCase {
  std::string name;
  std::string text;
  std::vector<std::string> words;
};
TEST(TextWords, AreThoseOfGpt2) {
  const WordsCase cases[] = {
      {"Empty", "", {}},
      {"SpaceBeforeAWord", "Hello world", {"Hello", " world"}},
      {"SeveralSpaces", "a   b", {"a", "  ", " b"}},
      {"SpacesAtTheEnd", "a  ", {"a", "  "}},
      {"OneSpace", " ", {" "}},
      {"LineEnds", "a\n\n b\n\nc", {"a", "\n\n", " b", "\n", "\n", "c"}},
      {"ShortForms", "it's we'll DON'T", {"it", "'s", " we", "'ll", " DON", "'", "T"}},
      {"NumbersAndSigns", "2 o'clock!!! x=3", {"2", " o", "'", "clock", "!!!", " x", "=", "3"}},
      {"SignsKeepApostrophes", "!'s", {"!'", "s"}},
      {"Accents", "\u00e9l\u00e8ve 42\u00bd", {"\u00e9l\u00e8ve", " 42\u00bd"}},
      {"Ideographs", "\u65e5\u672c\u8a9e\u3002", {"\u65e5\u672c\u8a9e", "\u3002"}},
      {"SpaceThatDoesNotBreak", "a\u00a0b", {"a", "\u00a0", "b"}},
      {"InvalidBytes", "a\xff\xc3 ok\xfe", {"a", "\xff\xc3", " ok", "\xfe"}}};
  for (const WordsCase& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<std::string> words;
    for_each_word(c.text, [&](std::string_view word) { words.emplace_back(word); });
    EXPECT_EQ(words, c.words);
  }
}

using support::message_of;
using testing::ElementsAre;
using TokenNumbers = std::vector<std::int64_t>;

/// Merges "he", "ll", "hell", " o" (whose space is written as U+0120) in this order.
class BytePairTest : public testing::Test {
 protected:
  BytePairTest() {
    write_gpt2_files(vocabulary(), merges(), {"h e", "l l", "he ll", "\u0120 o"},
                     {"he", "ll", "hell", "\u0120o"});
  }

  std::string vocabulary() const { return folder_.file("vocab.json"); }
  std::string merges() const { return folder_.file("merges.txt"); }
  BytePairEncoding encoding() const { return {vocabulary(), merges()}; }

  TokenNumbers encoded(const std::string& text) const {
    TokenNumbers tokens;
    encoding().encode(text, tokens);
    return tokens;
  }

  Folder folder_;
};

TEST_F(BytePairTest, MergesInTheOrderOfTheList) {
  EXPECT_THAT(encoded("hello"), ElementsAre(258, 'o'));
  EXPECT_THAT(encoded("helll"), ElementsAre(258, 'l'));
  EXPECT_THAT(encoded("ell"), ElementsAre('e', 257));
}

TEST_F(BytePairTest, MergesWithinWords) {
  EXPECT_THAT(encoded("he llo"), ElementsAre(256, ' ', 257, 'o'));
  EXPECT_THAT(encoded("he on o"), ElementsAre(256, 259, 'n', 259));
}

TEST_F(BytePairTest, EncodesAllBytes) {
  std::string text;
  for (int byte = 0; byte < 256; ++byte)
    text += static_cast<char>(byte);
  const TokenNumbers tokens = encoded(text);
  ASSERT_EQ(tokens.size(), 256U);
  for (std::int64_t byte = 0; byte < 256; ++byte)
    EXPECT_EQ(tokens[static_cast<std::size_t>(byte)], byte);
  EXPECT_EQ(encoding().decode(tokens), text);
}

TEST_F(BytePairTest, KnowsItsSize) {
  EXPECT_EQ(encoding().kinds(), 261);
  EXPECT_EQ(encoding().end_of_text(), 260);
  EXPECT_EQ(encoding().decode(encoded("hello <|endoftext|>")), "hello <|endoftext|>");
}

struct BadMergesCase {
  std::string name;
  std::string line;
  std::string message;
};
TEST_F(BytePairTest, NamesTheLineOfABadMerge) {
  const BadMergesCase cases[] = {
      {"OneToken", "he", "expected two tokens with a space between them"},
      {"ThreeTokens", "h e l", "expected two tokens with a space between them"},
      {"UnknownToken", "hex x", "the token 'hexx' is not in the vocabulary"},
      {"UnknownResult", "he h", "the token 'heh' is not in the vocabulary"}};
  const std::string good = read_text(merges());
  for (const BadMergesCase& c : cases) {
    SCOPED_TRACE(c.name);
    std::ofstream(merges()) << good << c.line << "\n";
    EXPECT_EQ(message_of<DataError>([&] { encoding(); }), merges() + ": line 6: " + c.message);
  }
}

TEST_F(BytePairTest, NeedsAllBytes) {
  std::ofstream(vocabulary()) << "{\"a\": 0}";
  EXPECT_EQ(message_of<DataError>([&] { encoding(); }), vocabulary() + ": no token for the byte 0");
}

TEST_F(BytePairTest, NeedsItsFiles) {
  EXPECT_THROW(BytePairEncoding("/nowhere/vocab.json", merges()), UsageError);
  EXPECT_THROW(BytePairEncoding(vocabulary(), "/nowhere/merges.txt"), UsageError);
}

TEST(JsonVocabulary, ReadsEscapes) {
  const Folder folder;
  const std::string path = folder.file("v.json");
  std::ofstream(path) << R"( {"a\"b" : 3,"\\\/\n\t": 0, "\u00e9\ud83d\ude00":  12 } )" << '\n';
  const auto tokens = read_json_vocabulary(path);
  EXPECT_EQ(tokens.size(), 3U);
  EXPECT_EQ(tokens.at("a\"b"), 3);
  EXPECT_EQ(tokens.at("\\/\n\t"), 0);
  EXPECT_EQ(tokens.at("\u00e9\U0001f600"), 12);
}

struct BadJsonCase {
  std::string name;
  std::string json;
  std::string message;
};
TEST(BadJsonVocabulary, IsRefusedWithItsReason) {
  const BadJsonCase cases[] = {
      {"NoObject", "[1]", "not a JSON object"},
      {"CutShort", "{\"a\": 1, \"b", "byte 12: no JSON"},
      {"NoNumber", "{\"a\": \"b\"}", "the token 'a' has the number \"b\""},
      {"Negative", "{\"a\": -1}", "the token 'a' has the number -1"},
      {"TooLarge", "{\"a\": 4294967296}", "the token 'a' has the number 4294967296"},
      {"SameNumber", "{\"a\": 1, \"b\": 1}", "two tokens have the number 1"},
      {"SameToken", "{\"a\": 1, \"a\": 2}", "the token 'a' has two numbers"},
      {"HalfACharacter", "{\"\\ud83d\": 1}", "byte 9: no JSON"},
      {"MoreBehind", "{\"a\": 1} {", "byte 10: no JSON"}};
  for (const BadJsonCase& c : cases) {
    SCOPED_TRACE(c.name);
    const Folder folder;
    const std::string path = folder.file("v.json");
    std::ofstream(path) << c.json;
    EXPECT_EQ(message_of<DataError>([&] { read_json_vocabulary(path); }), path + ": " + c.message);
  }
}

}  // namespace
}  // namespace bench::steps
