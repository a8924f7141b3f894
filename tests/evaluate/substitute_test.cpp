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

struct Case {
  std::string text;
  std::string expected;
  Values values = {{"a", "A"}};
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.text;
}

class SubstituteTest : public testing::TestWithParam<Case> {};

TEST_P(SubstituteTest, GivesTheText) {
  EXPECT_EQ(substitute(GetParam().text, lookup_in(GetParam().values)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Names, SubstituteTest,
                         testing::Values(Case{"", ""}, Case{"plain", "plain"}, Case{"[$a]", "[A]"},
                                         Case{"[$abc]", "[$abc]"}, Case{"[${a}bc]", "[Abc]"},
                                         Case{"[$a-b]", "[A-b]"}, Case{"[$a_b]", "[$a_b]"},
                                         Case{"$a$a", "AA"}, Case{"$A", "$A"}, Case{"$aé", "Aé"},
                                         Case{"$_1", "x", {{"_1", "x"}}}, Case{"é$a", "éA"},
                                         Case{"[$a]", "[]", {{"a", ""}}}));

INSTANTIATE_TEST_SUITE_P(DollarsThatStay, SubstituteTest,
                         testing::Values(Case{"$(a)", "$(a)"}, Case{"$1", "$1"}, Case{"$?", "$?"},
                                         Case{"$-", "$-"}, Case{"${}", "${}"}, Case{"${a", "${a"},
                                         Case{"${ a}", "${ a}"}, Case{"${a-b}", "${a-b}"},
                                         Case{"cost $ 5", "cost $ 5"}, Case{"end $", "end $"},
                                         Case{"$", "$"}, Case{"${1a}", "${1a}"}, Case{"$ä", "$ä"}));

INSTANTIATE_TEST_SUITE_P(DoubledDollars, SubstituteTest,
                         testing::Values(Case{"$$a", "$a"}, Case{"$${a}", "${a}"},
                                         Case{"$$$a", "$A"}, Case{"$$$$a", "$$a"},
                                         Case{"$$$$$a", "$$A"}, Case{"$$", "$"},
                                         Case{"$$ 5", "$ 5"}, Case{"$$HOME/$a", "$HOME/A"},
                                         Case{"$$a", "$a", {{"a", "$$b"}}}));

const Values numbered = {{"n", "1"}, {"p1", "X"}, {"X", "deep"}};

INSTANTIATE_TEST_SUITE_P(
    BuiltNames, SubstituteTest,
    testing::Values(Case{"${p$n}", "X", numbered}, Case{"${p${n}}", "X", numbered},
                    Case{"$p$n", "X", numbered}, Case{"${q$n}", "${q1}", numbered},
                    Case{"${${p$n}}", "deep", numbered}, Case{"$p$$n", "$p$n", numbered},
                    Case{"${p$n} $$n $n", "X $n 1", numbered}));

INSTANTIATE_TEST_SUITE_P(
    InsertedValues, SubstituteTest,
    testing::Values(Case{"$a $b", "$b B", {{"a", "$b"}, {"b", "B"}}},
                    Case{"$a", "$$b", {{"a", "$$b"}, {"b", "B"}}},
                    Case{"$a${p$n}", "$bX", {{"a", "$b"}, {"b", "B"}, {"n", "1"}, {"p1", "X"}}},
                    Case{"${p$n}", "${p$a}", {{"n", "$a"}, {"a", "A"}}},
                    Case{"$p$n", "$p$n", {{"n", "$n"}}}));

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
