#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/text.hpp>

namespace bench {
namespace {

using Words = std::vector<std::string>;

TEST(Strip, RemovesOuterWhiteSpaceOfEveryKind) {
  EXPECT_EQ(strip(" \t\n\r\f\va b\n "), "a b");
  EXPECT_EQ(strip(" \n"), "");
  EXPECT_EQ(strip(""), "");
}

TEST(OneLine, KeepsOneBlankBetweenWords) {
  EXPECT_EQ(one_line("\n a  line\n\tand another \n"), "a line and another");
  EXPECT_EQ(one_line("word"), "word");
  EXPECT_EQ(one_line(" \n"), "");
}

TEST(Split, CountsEmptyPieces) {
  EXPECT_EQ(split("1,,2", ","), (Words{"1", "", "2"}));
  EXPECT_EQ(split("1,", ","), (Words{"1", ""}));
  EXPECT_EQ(split(",", ","), (Words{"", ""}));
  EXPECT_EQ(split("", ","), (Words{""}));
}

TEST(Split, TakesSeparatorsOfAnyLength) {
  EXPECT_EQ(split("a::b:c", "::"), (Words{"a", "b:c"}));
  EXPECT_EQ(split("a\nb", "\n"), (Words{"a", "b"}));
  EXPECT_EQ(split("a,b", ""), (Words{"a,b"}));
}

TEST(SplitValues, StripsEachAndKeepsEmptyOnes) {
  EXPECT_THAT(split_values(" 1,, a b ", ","), testing::ElementsAre("1", "", "a b"));
}

TEST(SplitNames, LeavesBlanksAndEmptyNamesOut) {
  EXPECT_EQ(split_names(" a , ,b,"), (Words{"a", "b"}));
  EXPECT_EQ(split_names("a;b", ";"), (Words{"a", "b"}));
  EXPECT_EQ(split_names(" "), Words{});
}

TEST(Join, PutsTheSeparatorBetween) {
  EXPECT_EQ(join(Words{"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(join(Words{"a"}, ","), "a");
  EXPECT_EQ(join(Words{}, ","), "");
}

TEST(EscapedList, SplitsAtCommas) {
  EXPECT_THAT(split_escaped(" nodes=1, kind = x,,"), testing::ElementsAre("nodes=1", "kind = x"));
  EXPECT_THAT(split_escaped(R"(v=x\,y,n=1)"), testing::ElementsAre("v=x,y", "n=1"));
  EXPECT_THAT(split_escaped(R"(dir=C:\a,n=1)"), testing::ElementsAre(R"(dir=C:\a)", "n=1"));
}

TEST(EscapedList, GivesBackWhatWasEscaped) {
  const std::vector<std::string> items{"v=x,y", R"(a\,b\)", R"(\\)", "n=1"};
  std::vector<std::string> list;
  for (const std::string& item : items)
    list.push_back(escaped_item(item));
  EXPECT_EQ(split_escaped(join(list, ",")), items);
}

TEST(ReplaceAll, DoesNotReplaceWhatItInserted) {
  EXPECT_EQ(replace_all("aaa", "a", "aa"), "aaaaaa");
  EXPECT_EQ(replace_all("a-b", "-", ""), "ab");
}

TEST(ToLower, ChangesAsciiLettersOnly) {
  EXPECT_EQ(to_lower("AbZ1_É"), "abz1_É");
}

TEST(ParseInteger, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("+12"), 12);
  EXPECT_EQ(parse_integer("007"), 7);
  for (const char* text : {"", "+", "-", "+-1", "1.0", "1 ", " 1", "0x1", "9223372036854775808"})
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
}

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number("-1.5e3"), -1500);
  EXPECT_EQ(parse_number("+.5"), 0.5);
  EXPECT_EQ(parse_number("1."), 1);
  EXPECT_TRUE(std::isinf(*parse_number("inf")));
  EXPECT_TRUE(std::isnan(*parse_number("nan")));
  for (const char* text : {"", "+", "+-1", "1,5", "1.5 ", "0x10", "abc", "1e"})
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
}

TEST(DidYouMean, NamesTheClosestWordIfItIsClose) {
  const Words known{"separator", "name", "mode", "type", "tag"};
  const struct {
    const char* word;
    const char* hint;
  } cases[] = {{"seperator", "did you mean 'separator'?"},
               {"sparatro", "did you mean 'separator'?"},
               {"SEPARATOR", "did you mean 'separator'?"},
               {"nmae", "did you mean 'name'?"},
               {"modes", "did you mean 'mode'?"},
               {"t", ""},
               {"xyz", ""},
               {"", ""},
               {"something else", ""}};
  for (const auto& [word, hint] : cases)
    EXPECT_EQ(did_you_mean(word, known), hint) << word;
}

TEST(DidYouMean, IsEmptyWhereNothingIsKnown) {
  EXPECT_EQ(did_you_mean("a", Words{}), "");
}

TEST(Suggestion, NamesAllWhereNoneIsClose) {
  const Words known{"slurm", "local"};
  EXPECT_EQ(suggestion("slrum", known), "did you mean 'slurm'?");
  EXPECT_EQ(suggestion("other", known), "known: slurm, local");
  EXPECT_EQ(suggestion("other", known, "there are: "), "there are: slurm, local");
  EXPECT_EQ(suggestion("other", {}), "");
}

TEST(ContainsAny, LooksForEveryPhrase) {
  constexpr std::array<std::string_view, 2> phrases{"timed out", "refused"};
  EXPECT_TRUE(contains_any("connection refused", phrases));
  EXPECT_FALSE(contains_any("connection", phrases));
  EXPECT_FALSE(contains_any("", phrases));
}

TEST(IsShellName, TellsWhatAShellCanHaveAsAVariable) {
  for (const char* name : {"a", "A_1", "_"})
    EXPECT_TRUE(is_shell_name(name)) << name;
  for (const char* name : {"", "1st", "a-b", "a.b", "größe", "BASH_FUNC_module%%", "--option"})
    EXPECT_FALSE(is_shell_name(name)) << name;
}

TEST(ShellQuote, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(shell_quote("a-b_c./:=,+@%9"), "a-b_c./:=,+@%9");
  EXPECT_EQ(shell_quote(""), "''");
  EXPECT_EQ(shell_quote("a b"), "'a b'");
  EXPECT_EQ(shell_quote("it's"), R"('it'\''s')");
  EXPECT_EQ(shell_quote("$HOME"), "'$HOME'");
  EXPECT_EQ(shell_quote("~"), "'~'");
  EXPECT_EQ(shell_quote("a\nb"), "'a\nb'");
}

// Each text is what CPython's str() gives.
TEST(PythonFloat, WritesWhatStrWrites) {
  const struct {
    double value;
    const char* text;
  } cases[] = {{0.0, "0.0"},
               {-0.0, "-0.0"},
               {2, "2.0"},
               {0.1, "0.1"},
               {0.1 + 0.2, "0.30000000000000004"},
               {2.0 / 3, "0.6666666666666666"},
               {1e-4, "0.0001"},
               {1e-5, "1e-05"},
               {1.5e-7, "1.5e-07"},
               {1e15, "1000000000000000.0"},
               {9999999999999998.0, "9999999999999998.0"},
               {1e16, "1e+16"},
               {1.2345678901234567e19, "1.2345678901234567e+19"},
               {1e22, "1e+22"},
               {-1.5e300, "-1.5e+300"},
               {5e-324, "5e-324"},
               {123456789.125, "123456789.125"},
               {std::numeric_limits<double>::infinity(), "inf"},
               {-std::numeric_limits<double>::infinity(), "-inf"},
               {std::numeric_limits<double>::quiet_NaN(), "nan"}};
  for (const auto& [value, text] : cases)
    EXPECT_EQ(python_float(value), text);
}

TEST(Plural, HasAnSUnlessThereIsOne) {
  EXPECT_EQ(plural(0, "run"), "0 runs");
  EXPECT_EQ(plural(1, "run"), "1 run");
  EXPECT_EQ(plural(2, "run"), "2 runs");
}

TEST(UniqueName, CountsWhereItIsTaken) {
  std::set<std::string> taken{"a_2"};
  EXPECT_EQ(unique_name("a", taken), "a");
  EXPECT_EQ(unique_name("a", taken), "a_3");
  EXPECT_EQ(unique_name("a", taken, '-'), "a-2");
}

TEST(PercentEncoded, KeepsWhatMeansNothingInAUri) {
  EXPECT_EQ(percent_encoded("aZ0-._~"), "aZ0-._~");
  EXPECT_EQ(percent_encoded("a b/%\u00e9"), "a%20b%2F%25%C3%A9");
  EXPECT_EQ(percent_encoded("a b/c", "/"), "a%20b/c");
}

TEST(ToValidUtf8, KeepsWhatIsValid) {
  for (const char* text : {"", "plain", "größe", "€", "日本", "😀", "\xED\x9F\xBF", "\xEF\xBF\xBD"})
    EXPECT_EQ(to_valid_utf8(text), text);
}

TEST(ToValidUtf8, ReplacesEachInvalidByte) {
  constexpr std::array<std::pair<const char*, std::size_t>, 8> cases{{
      {"\xFF", 1},              // never a byte of UTF-8
      {"\x80", 1},              // a continuation without its lead
      {"\xC3", 1},              // cut off
      {"\xC0\xAF", 2},          // overlong
      {"\xE0\x80\xAF", 3},      // overlong
      {"\xED\xA0\x80", 3},      // a surrogate
      {"\xF0\x80\x80\xAF", 4},  // overlong
      {"\xF4\x90\x80\x80", 4},  // beyond U+10FFFF
  }};
  for (const auto& [bytes, count] : cases) {
    std::string expected = "a";
    for (std::size_t k = 0; k < count; ++k)
      expected += "\uFFFD";
    EXPECT_EQ(to_valid_utf8("a" + std::string(bytes) + "b"), expected + "b");
  }
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("größe µ"), 7U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("かな"), 4U);
  EXPECT_EQ(display_width("한"), 2U);
}

TEST(WithVisibleControls, ShowsThemAndKeepsTheText) {
  EXPECT_EQ(with_visible_controls("a\tb\n\u00e4\u20ac"), "a\tb\n\u00e4\u20ac");
  EXPECT_EQ(with_visible_controls("\x1b[31m\r\x7f\b"), "^[[31m^M^?^H");
  EXPECT_EQ(with_visible_controls("a\u202eb\u2066c\u061cd\u200fe"),
            "a<U+202E>b<U+2066>c<U+061C>d<U+200F>e");
  EXPECT_EQ(with_visible_controls("\u2013\u2069\u206a"), "\u2013<U+2069>\u206a");
  EXPECT_EQ(with_visible_controls(std::string("\0", 1)), "^@");
  EXPECT_EQ(with_visible_controls("\u009b"
                                  "2J"),
            "<U+009B>2J");
  EXPECT_EQ(with_visible_controls("\x9b"
                                  "2J"),
            "\uFFFD"
            "2J");
}

}  // namespace
}  // namespace bench
