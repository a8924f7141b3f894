#include "results/work_directory.hpp"
#include "support/case_name.hpp"
#include "support/error_of.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/value.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/group.hpp>

namespace bench::results {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

struct ScanCase {
  std::string name;
  std::string pattern;
  std::string text;
  std::vector<std::string> expected;  ///< All values.
  bool dotall = false;
};

class DialectTest : public WorkDirectory, public testing::WithParamInterface<ScanCase> {
 protected:
  /// First, last and count tell three values; longer lists are written with their groups.
  std::string values() {
    const FoundValues all = findings();
    if (!all.at("p").present())
      return "";
    std::string text = shown(all, "p_first");
    if (shown(all, "p_cnt") != "1")
      text += " .. " + shown(all, "p_last") + " (" + shown(all, "p_cnt") + ")";
    return text;
  }
};

TEST_P(DialectTest, FindsWhatPythonFinds) {
  const ScanCase& c = GetParam();
  model::Pattern& pattern = editable("p", c.pattern);
  pattern.dotall = c.dotall;
  scan(c.text, {&pattern});
  std::string expected = c.expected.empty() ? "" : c.expected.front();
  if (c.expected.size() > 1)
    expected += " .. " + c.expected.back() + " (" + std::to_string(c.expected.size()) + ")";
  EXPECT_EQ(values(), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Matches, DialectTest,
    testing::Values(
        ScanCase{"WholeMatchWithoutGroup", "a\\d", "a1 a2", {"a1", "a2"}},
        ScanCase{"Group", "a(\\d)", "a1 a2", {"1", "2"}},
        ScanCase{"SeveralGroupsAreFlattened",
                 "pair (\\d) (\\d)",
                 "pair 1 2\npair 3 4",
                 {"1", "2", "3", "4"}},
        ScanCase{"EmptyAndUnmatchedGroupsAreDropped", "(a)?(b*)", "ab", {"a", "b"}},
        ScanCase{"NothingMatches", "x", "abc", {}},
        ScanCase{"Repetition", "a{2}", "aaaa", {"aa", "aa"}},
        ScanCase{"OpenRepetition", "ba{,2}c", "bc baac baaac", {"bc", "baac"}},
        ScanCase{"BraceIsAnOrdinaryOneElsewhere", "[{,2}]+\\{", "{,2{", {"{,2{"}},
        ScanCase{"NamedGroup", "(?P<n>\\d)(?P=n)", "11 23 44", {"1", "4"}},
        ScanCase{"LookBehind", "(?<=t=)\\d", "t=5 u=6", {"5"}},
        ScanCase{"EmptyMatchesAdvance", "(?=(\\d\\d))", "1234", {"12", "23", "34"}},
        ScanCase{"EmptyMatchBesideAnother", "x*|(d)", "abxd", {"d"}},
        ScanCase{"CaseIgnored", "(?i)loss", "LOSS Loss", {"LOSS", "Loss"}},
        ScanCase{"Lazy", "<(.+?)>", "<a><b>", {"a", "b"}},
        ScanCase{"Integer", "n=$jube_pat_int", "n=-5 n=7", {"-5", "7"}},
        ScanCase{"Number", "t:$jube_pat_bl$jube_pat_fp s", "t: 1.5e-3 s t: 4. s", {"1.5e-3", "4."}},
        ScanCase{"NotCaptured", "n=(?:${jube_pat_nint}),${jube_pat_wrd}", "n=5,ab c", {"ab"}},
        ScanCase{"LiteralDollar", "price \\$$(\\d)", "price $5", {"5"}},
        ScanCase{"UnknownNameStays", "a$b", "a$b", {}}),
    support::case_name);

INSTANTIATE_TEST_SUITE_P(
    Lines, DialectTest,
    testing::Values(ScanCase{"LineEnds", "^v=(.)$", "v=1\nv=2\n", {"1", "2"}},
                    ScanCase{"LineStartAfterTheLastNewline", "^(?=(\\Z|v))()", "v\n", {"v"}},
                    ScanCase{"CrLfCountsAsOne", "^v=(.*)$", "v=1\r\nv=2\r\n", {"1", "2"}},
                    ScanCase{"CrCountsAsOne", "^v=(.*)$", "v=1\rv=2\r\r\n", {"1", "2"}},
                    ScanCase{"DotStopsAtTheLineEnd", "a.*", "a1\nb", {"a1"}},
                    ScanCase{"DotAll", "a.*", "a1\nb", {"a1\nb"}, true},
                    ScanCase{"TextStart", "\\A(.)", "1\n2", {"1"}},
                    ScanCase{"TextEndIsNotBeforeTheLastNewline", "(\\d)\\Z", "1\n2\n", {}},
                    ScanCase{"TextEnd", "(\\d)\\Z", "1\n2", {"2"}},
                    ScanCase{"BackslashThenZ", "\\\\Z", "\\Z", {"\\Z"}},
                    ScanCase{"VerticalTabIsOneCharacter", "a\\vb", "a\nb a\vb", {"a\vb"}},
                    ScanCase{"BracketFirstInAClass", "[]\\v]+", "]\v\n", {"]\v"}}),
    support::case_name);

INSTANTIATE_TEST_SUITE_P(
    Bytes, DialectTest,
    testing::Values(ScanCase{"WordsAreUnicode", "\\w+", "größe", {"größe"}},
                    ScanCase{"DigitsAreUnicode", "\\d+", "٣٤", {"٣٤"}},
                    ScanCase{"SpacesAreUnicode", "a\\sb", "a\u00a0b", {"a\u00a0b"}},
                    ScanCase{"DotIsACharacter", "(.)m", "3 µm", {"µ"}},
                    ScanCase{"NegatedClassIsACharacter", "[^a]", "µ", {"µ"}},
                    ScanCase{"CaseIsUnicode", "(?i)ÄB", "äb", {"äb"}},
                    ScanCase{"NonAsciiExpression", "µ|b", "a b", {"b"}},
                    ScanCase{"CodePoint", "\\u20ac(\\d)", "€5", {"5"}},
                    ScanCase{"CodePointInAsciiText", "\\u20ac|(b)", "ab", {"b"}},
                    ScanCase{"LongCodePoint", "\\U0001F600", "😀", {"😀"}},
                    ScanCase{"Nul", "a(.)b", std::string("a\0b", 3), {std::string("\0", 1)}},
                    ScanCase{
                        "InvalidBytesAreACharacter", "caf(.)=(\\d)", "caf\xe9=1", {"\ufffd", "1"}},
                    ScanCase{"InvalidBytesElsewhere", "t=(\\d+)", "\xff\xfe t=12 \xc3", {"12"}}),
    support::case_name);

INSTANTIATE_TEST_SUITE_P(
    Dialect, DialectTest,
    testing::Values(
        ScanCase{"NoPosixClasses", "[[:alpha:]]", "a] l] xx :]", {"a]", "l]", ":]"}},
        ScanCase{"NoCollatingClasses", "[[.a.]]", "a] [] b]", {"a]", "[]"}},
        ScanCase{"BracketInANegatedClass", "[^[]+", "ab[cd", {"ab", "cd"}},
        ScanCase{"OctalCharacter", "\\101(\\060)", "A0 B0", {"0"}},
        ScanCase{"NulCharacter", "a\\0b", std::string("a\0b", 3), {std::string("a\0b", 3)}},
        ScanCase{"OctalInAClass", "[\\1\\61]", "1\x01", {"1", "\x01"}},
        ScanCase{"BackReference", "(\\d)-\\1", "1-1 1-2 3-3", {"1", "3"}},
        ScanCase{"BackReferenceBeforeADigit", "(a)|(b)\\2\\x31", "bb1", {"b"}},
        ScanCase{"ConditionByName", "(?P<q>\")?(\\w+)(?(q)\"|;)", "\"a\" b;", {"\"", "a", "b"}},
        ScanCase{"PossessiveAndAtomic", "a++b|(?>c+)d", "aab ccd", {"aab", "ccd"}},
        ScanCase{"FlagsTogether", "(?is)a.b", "A\nB", {"A\nB"}},
        ScanCase{"UnicodeFlagChangesNothing", "(?u)(\\w)", "ä", {"ä"}},
        ScanCase{"AsciiFlag", "(?a)\\w+", "größe", {"gr", "e"}},
        ScanCase{"Verbose", "(?x) a \\d  # a digit", "a1", {"a1"}},
        ScanCase{"OpenRepetitionWithoutEnd", "ba{,}c", "bc baaac", {"bc", "baaac"}},
        ScanCase{"BackspaceInAClass", "[\\b]", "a\bb", {"\b"}},
        ScanCase{"WordEdge", "\\bt=(\\d)", "t=1 at=2", {"1"}},
        ScanCase{"NegativeLookBehind", "(?<!a)b(\\d)", "ab1 cb2", {"2"}},
        ScanCase{"SeparatorsAreSpaces",
                 "a\\s[\\s]b\\Sc",
                 "a\x1c\x1f"
                 "b\x1e"
                 "c a\x1d b.c",
                 {"a\x1d b.c"}},
        ScanCase{"SeparatorsAreNoSpacesOfAscii",
                 "(?a)a\\sb",
                 "a\x1c"
                 "b",
                 {}},
        ScanCase{"FlagsOfAGroup", "(?i:a)(?u-i:\\w)", "Aä", {"Aä"}},
        ScanCase{"AsciiFlagOfAGroup", "(?a)(?ai:A)\\w", "aä ab", {"ab"}}),
    support::case_name);

/// What Python refuses, and PCRE2 would give a meaning of its own.
struct Refused {
  std::string name;
  std::string pattern;
  std::string message;
};
class RefusedTest : public WorkDirectory, public testing::WithParamInterface<Refused> {};

TEST_P(RefusedTest, IsNoExpression) {
  scan("text", {pattern("p", GetParam().pattern)});
  EXPECT_EQ(support::error_of([&] { findings(); }),
            "b.yaml:1:1: error: invalid regular expression in pattern 'p': " + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Dialect, RefusedTest,
    testing::Values(
        Refused{"HorizontalSpace", "a\\hb",
                "'\\h' is not valid in Python's regular expressions\nhint: for blanks and tabs "
                "write [ \\t]"},
        Refused{
            "SmallZ", "a\\z",
            "'\\z' is not valid in Python's regular expressions\nhint: the end of the text is \\Z"},
        Refused{
            "AnyLineEnd", "a\\R",
            "'\\R' is not valid in Python's regular expressions\nhint: the end of a line is \\n"},
        Refused{"Quote", "\\Qa\\E",
                "'\\Q' is not valid in Python's regular expressions\n"
                "hint: remove the backslash to match the letter itself"},
        Refused{"TextEndInAClass", "[\\Z]",
                "'\\Z' is not valid in Python's regular expressions in a class\n"
                "hint: remove the backslash to match the letter itself"},
        Refused{"ShortHexadecimal", "\\x4", "'\\x' needs 2 hexadecimal digits\nhint: in '\\x4'"},
        Refused{"BigOctal", "\\777", "'\\777' is beyond \\377\nhint: in '\\777'"},
        Refused{"Verb", "a(*FAIL)",
                "nothing to repeat after '('\nhint: write \\* for the character"},
        Refused{"FlagsInside", "a(?i)b",
                "flags such as (?i) are not at the start\nhint: put them first"},
        Refused{"LocaleFlag", "(?L)a", "(?L) is for bytes, not for text\nhint: remove the L"},
        Refused{"AsciiFlagOfAGroup", "a(?ai:b)",
                "(?ai:...) is not supported\n"
                "hint: put (?a) at the start, for the whole expression"},
        Refused{"UnicodeFlagOfAGroup", "(?a)a(?u:b)",
                "(?u:...) is not supported\nhint: (?a) at the start is for the whole expression"},
        Refused{"LocaleFlagOfAGroup", "a(?L:b)",
                "(?L:...) is for bytes, not for text\nhint: remove the L"},
        Refused{"NameOfACharacter", "\\N{DIGIT ONE}",
                "names of characters, as in \\N{...}, are not supported\n"
                "hint: write the character itself, or \\u and its four hexadecimal digits"}),
    support::case_name);

class ScanTest : public WorkDirectory {};

TEST_F(ScanTest, ParametersAreSubstituted) {
  group_.parameter = parameters({{"n", "4"}, {"unit", "ms"}});
  scan("t4=7ms t5=8ms", {pattern("p", "t$n=(\\d)${unit}")});
  EXPECT_EQ(shown(findings(), "p"), "7");
}

TEST_F(ScanTest, GroupsHaveTheirOwnParameters) {
  const model::Pattern* p = pattern("p", "t$n=(\\d)");
  scan("t1=7 t2=8", {p});
  group_.parameter = parameters({{"n", "1"}});
  Group second = group_;
  second.parameter = parameters({{"n", "2"}});
  evaluate::Evaluator evaluator;
  const auto all = GroupAnalyser(evaluator).analyse({group_, second});
  EXPECT_EQ(shown(all[0], "p"), "7");
  EXPECT_EQ(shown(all[1], "p"), "8");
}

TEST_F(ScanTest, FilesAreReadInOrderAndMissingOnesSkipped) {
  const model::Pattern* p = pattern("p", "v=(\\d)");
  scan("v=1", {p});
  group_.files.push_back({directory_ / "missing", {p}});
  group_.files.push_back({directory_, {p}});
  scan("v=2", {p});
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "p_first"), "1");
  EXPECT_EQ(shown(all, "p_last"), "2");
  EXPECT_EQ(shown(all, "p_cnt"), "2");
}

TEST_F(ScanTest, WarnsOncePerFileThatIsNotUtf8) {
  scan("t=\xff 1", {pattern("p", "(\\d)"), pattern("q", "t")});
  group_.files.push_back(group_.files.front());
  scan("é", {pattern("r", "t")});
  Diagnostics diagnostics;
  findings(&diagnostics);
  ASSERT_EQ(diagnostics.warnings().size(), 1U);
  EXPECT_EQ(diagnostics.warnings()[0].message,
            (directory_ / "out0").string() + " is not valid UTF-8");
}

TEST_F(ScanTest, SaysInWhichFilesThereIsNoMatch) {
  const model::Pattern* p = pattern("p", "x");
  scan("v=1", {p});
  scan("v=1", {p});
  group_.files.push_back({directory_ / "err.log", {p}, "err*"});
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "p"), "absent: no match in out0, out1, no file err*");
  EXPECT_EQ(shown(all, "p_cnt"), "(nothing)");
}

TEST_F(ScanTest, PatternsMayHoldOthersOfTheSameFile) {
  group_.parameter = parameters({{"unit", "ms"}});
  scan("v=12ms v=13s",
       {pattern("digit", "[0-9]"), pattern("num", "${digit}+"), pattern("v", "v=($num)$unit")});
  EXPECT_EQ(shown(findings(), "v"), "12");
}

TEST_F(ScanTest, APatternInsideItselfStaysAName) {
  scan("a$b", {pattern("a", "x$b"), pattern("b", "y$a")});
  Diagnostics diagnostics;
  EXPECT_EQ(shown(findings(&diagnostics), "a"), "absent: no match in out0");
  EXPECT_EQ(diagnostics.warnings().size(), 2U);
}

TEST_F(ScanTest, UnknownNamesAreToldOnce) {
  const model::Pattern* p = pattern("p", "v=$nothere$$also $jube_pat_int");
  scan("v=1", {p});
  scan("v=1", {p});
  Diagnostics diagnostics;
  findings(&diagnostics);
  ASSERT_EQ(diagnostics.warnings().size(), 1U);
  EXPECT_EQ(diagnostics.warnings()[0].message,
            "pattern 'p' contains '$nothere', which is neither a parameter nor a pattern");
  EXPECT_EQ(diagnostics.warnings()[0].place, (Place{"b.yaml", 1, 1}));
}

TEST_F(ScanTest, NamesThatAreBuiltFromValuesAreNotUnknown) {
  group_.parameter = parameters({{"n", "1"}, {"p1", "X"}});
  scan("v=X", {pattern("p", "v=($p$n)")});
  Diagnostics diagnostics;
  EXPECT_EQ(shown(findings(&diagnostics), "p"), "X");
  EXPECT_TRUE(diagnostics.warnings().empty());
}

TEST_F(ScanTest, AnIntThatLosesItsFractionIsToldOnce) {
  scan("v=1.5 v=2.0 v=2.5", {pattern("p", "v=(\\S+)", ValueType::integer)});
  Diagnostics diagnostics;
  EXPECT_EQ(shown(findings(&diagnostics), "p_sum"), "5");
  ASSERT_EQ(diagnostics.warnings().size(), 1U);
  EXPECT_EQ(diagnostics.warnings()[0].message,
            "pattern 'p' has type int and matched '1.5', which counts as 1");
}

TEST_F(ScanTest, ALongLineIsNoMatterOfRecursion) {
  scan("t=1 " + std::string(10'000'000, 'a') + " t=2",
       {pattern("ends", "^t=(\\d).*t=(\\d)$"), pattern("words", "(?:\\S|\\s)+?(t=2)")});
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "ends_last"), "2");
  EXPECT_EQ(shown(all, "words"), "t=2");
}

TEST_F(ScanTest, ExponentialSearchIsAnErrorWithItsPlace) {
  scan(std::string(60, 'a'), {pattern("p", "(a+)+b|c")});
  EXPECT_THAT(support::error_of([&] { findings(); }),
              testing::StartsWith("b.yaml:1:1: error: matching of pattern 'p' gave up in " +
                                  (directory_ / "out0").string() + ": match limit exceeded\n"));
}

TEST_F(ScanTest, WrongExpressionIsAnErrorWithItsPlace) {
  group_.files.push_back({directory_ / "missing", {pattern("p", "a(b")}});
  EXPECT_EQ(support::error_of([&] { findings(); }),
            "b.yaml:1:1: error: invalid regular expression in pattern 'p': missing closing "
            "parenthesis\nhint: at the end of 'a(b'");
}

class SeriesTest : public WorkDirectory {
 protected:
  auto series() {
    evaluate::Evaluator evaluator;
    return GroupAnalyser(evaluator).series(group_);
  }
};

TEST_F(SeriesTest, HasEveryNumberOfARepeatedPatternInOrder) {
  scan("loss=3 loss=1.5 loss=nan loss=x\n",
       {pattern("loss", "loss=(\\S+)", ValueType::real), pattern("text", "loss=(\\d)")});
  scan("loss=2\n", {pattern("other", "loss=(\\S+)")});
  const auto found = series();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found.at("loss"), ElementsAre(3, 1.5, testing::NanSensitiveDoubleEq(NAN)));
  EXPECT_THAT(found.at("text"), ElementsAre(3, 1));
}

TEST_F(SeriesTest, LeavesOutTextsAndSingleValues) {
  scan("word=1 word=two once=7\n",
       {pattern("word", "word=(\\w+)"), pattern("once", "once=(\\d)", ValueType::integer)});
  EXPECT_THAT(series(), IsEmpty());
}

TEST_F(SeriesTest, GoesThroughSeveralFiles) {
  const auto* n = pattern("n", "n=(\\d)", ValueType::integer);
  scan("n=1\n", {n});
  scan("n=2 n=3\n", {n});
  EXPECT_THAT(series(), ElementsAre(Pair("n", ElementsAre(1, 2, 3))));
}

}  // namespace

}  // namespace bench::results
