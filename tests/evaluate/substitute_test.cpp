#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <bench/evaluate/substitute.hpp>

namespace bench::evaluate {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

Lookup lookup_in(const Values& values) {
  return [&values](std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : &found->second;
  };
}

struct SubstituteCase {
  std::string text;
  std::string expected;
  Values values = {{"a", "A"}};
};
void PrintTo(const SubstituteCase& c, std::ostream* out) {
  *out << c.text;
}

class SubstituteTest : public testing::TestWithParam<SubstituteCase> {};

TEST_P(SubstituteTest, GivesTheText) {
  EXPECT_EQ(substitute(GetParam().text, lookup_in(GetParam().values)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Names, SubstituteTest,
    testing::Values(SubstituteCase{"", ""}, SubstituteCase{"plain", "plain"},
                    SubstituteCase{"[$a]", "[A]"}, SubstituteCase{"[$abc]", "[$abc]"},
                    SubstituteCase{"[${a}bc]", "[Abc]"}, SubstituteCase{"[$a-b]", "[A-b]"},
                    SubstituteCase{"[$a_b]", "[$a_b]"}, SubstituteCase{"$a$a", "AA"},
                    SubstituteCase{"$A", "$A"}, SubstituteCase{"$aé", "Aé"},
                    SubstituteCase{"$_1", "x", {{"_1", "x"}}}, SubstituteCase{"é$a", "éA"},
                    SubstituteCase{"[$a]", "[]", {{"a", ""}}}));

INSTANTIATE_TEST_SUITE_P(DollarsThatStay, SubstituteTest,
                         testing::Values(SubstituteCase{"$(a)", "$(a)"}, SubstituteCase{"$1", "$1"},
                                         SubstituteCase{"$?", "$?"}, SubstituteCase{"$-", "$-"},
                                         SubstituteCase{"${}", "${}"}, SubstituteCase{"${a", "${a"},
                                         SubstituteCase{"${ a}", "${ a}"},
                                         SubstituteCase{"${a-b}", "${a-b}"},
                                         SubstituteCase{"cost $ 5", "cost $ 5"},
                                         SubstituteCase{"end $", "end $"}, SubstituteCase{"$", "$"},
                                         SubstituteCase{"${1a}", "${1a}"},
                                         SubstituteCase{"$ä", "$ä"}));

INSTANTIATE_TEST_SUITE_P(
    DoubledDollars, SubstituteTest,
    testing::Values(SubstituteCase{"$$a", "$a"}, SubstituteCase{"$${a}", "${a}"},
                    SubstituteCase{"$$$a", "$A"}, SubstituteCase{"$$$$a", "$$a"},
                    SubstituteCase{"$$$$$a", "$$A"}, SubstituteCase{"$$", "$"},
                    SubstituteCase{"$$ 5", "$ 5"}, SubstituteCase{"$$HOME/$a", "$HOME/A"},
                    SubstituteCase{"$$a", "$a", {{"a", "$$b"}}}));

const Values numbered = {{"n", "1"}, {"p1", "X"}, {"X", "deep"}};

INSTANTIATE_TEST_SUITE_P(BuiltNames, SubstituteTest,
                         testing::Values(SubstituteCase{"${p$n}", "X", numbered},
                                         SubstituteCase{"${p${n}}", "X", numbered},
                                         SubstituteCase{"$p$n", "X", numbered},
                                         SubstituteCase{"${q$n}", "${q1}", numbered},
                                         SubstituteCase{"${${p$n}}", "deep", numbered},
                                         SubstituteCase{"$p$$n", "$p$n", numbered},
                                         SubstituteCase{"${p$n} $$n $n", "X $n 1", numbered}));

INSTANTIATE_TEST_SUITE_P(
    InsertedValues, SubstituteTest,
    testing::Values(SubstituteCase{"$a $b", "$b B", {{"a", "$b"}, {"b", "B"}}},
                    SubstituteCase{"$a", "$$b", {{"a", "$$b"}, {"b", "B"}}},
                    SubstituteCase{
                        "$a${p$n}", "$bX", {{"a", "$b"}, {"b", "B"}, {"n", "1"}, {"p1", "X"}}},
                    SubstituteCase{"${p$n}", "${p$a}", {{"n", "$a"}, {"a", "A"}}},
                    SubstituteCase{"$p$n", "$p$n", {{"n", "$n"}}}));

// A name in a name in a name: one level is resolved per round.
TEST(Substitute, ResolvesSixLevelsAndNoMore) {
  const Values values = {{"n0", "1"}, {"n1", "2"}, {"n2", "3"}, {"n3", "4"},
                         {"n4", "5"}, {"n5", "6"}, {"n6", "7"}};
  std::string text = "${n0}";
  for (int level = 2; level <= 7; ++level) {
    text = "${n" + text + "}";
    EXPECT_EQ(substitute(text, lookup_in(values)), level <= 6 ? std::to_string(level) : "${n6}")
        << text;
  }
}

TEST(Substitute, LooksEachNameUpOnceWhereNothingIsBuilt) {
  int calls = 0;
  const std::string value = "$x";
  EXPECT_EQ(substitute("$a ${b} $$c", [&](std::string_view) { return ++calls, &value; }),
            "$x $x $c");
  EXPECT_EQ(calls, 2);
}

TEST(NamesIn, GivesEachNameOnceInOrder) {
  const auto names = [](std::string_view text) { return names_in(text); };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("$b ${a} $b $$c $(d) ${e $1 x"), (Names{"b", "a"}));
  EXPECT_EQ(names("${p$n}"), (Names{"n"}));
  EXPECT_EQ(names("$p$n"), (Names{"p", "n"}));
  EXPECT_EQ(names("$$$a"), (Names{"a"}));
  EXPECT_EQ(names(""), Names{});
}

TEST(NumberNames, TellsTheOccurrencesOfANameApart) {
  int count = 0;
  EXPECT_EQ(number_names("$a ${a} $$a $ab $b ${a$b}", "a", count),
            "${a_1} ${a_2} $$a $ab $b ${a$b}");
  EXPECT_EQ(number_names("x$a", "a", count), "x${a_3}");
  EXPECT_EQ(number_names("none", "a", count), "none");
  EXPECT_EQ(count, 3);
}

}  // namespace
}  // namespace bench::evaluate
