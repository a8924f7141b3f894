#include "results/report_fixture.hpp"
#include "support/case_name.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/table.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::results {
namespace {

using testing::HasSubstr;
using testing::Not;
using workspace::State;

/// A table over iterations that print these texts.
class SpreadsTest : public ReportFixture {
 protected:
  static constexpr const char* any_text = ", {name: u, type: float, _: u=(.+)}";

  /// @param texts of the iterations of a single combination
  void analyse(const std::string& columns, const std::vector<std::string>& texts,
               const std::map<long long, State>& others = {}, const std::string& patterns = "") {
    end("parameterset: {name: p, parameter: {n: 7}}\n"
        "patternset: {name: q, pattern: [{name: t, type: float, unit: s, _: t=$jube_pat_fp}" +
            patterns +
            "]}\n"
            "step: {name: go, use: p, iterations: " +
            std::to_string(texts.size()) +
            "}\n"
            "analyser: {name: a, use: q, analyse: {step: go, file: out}}\n"
            "result: {use: a, table: {name: r, column: " +
            columns + "}}\n",
        others, "exit code 1");
    for (std::size_t id = 0; id < texts.size(); ++id)
      write("00000" + std::to_string(id) + "_go/work/out", texts[id]);
    Diagnostics diagnostics;
    analyse_and_store(run_, *workspace_, diagnostics);
    analyses_ = stored_analyses(run_, *workspace_);
  }
};

TEST_F(SpreadsTest, AreShownToPeopleAndTheirMedianToAll) {
  analyse("[n, t]", {"t=41.5", "t=41.2", "t=40.9"});
  EXPECT_EQ(table("pretty"),
            "r:\n| n |       t[s] |\n|---|------------|\n| 7 | 41.2 ± 0.7 |\n"
            "± in t: median of the iterations and its 95 % confidence interval\n");
  EXPECT_EQ(table("csv"), "n,t[s]\n7,41.2\n");
  EXPECT_EQ(table("aligned"), "n,t[s]\n7,41.2\n");
  EXPECT_THAT(table("json"), HasSubstr("\"t\": 41.2,"));
  EXPECT_THAT(table("latex"), HasSubstr("7 & 41.2 $\\pm$ 0.7 \\\\"));
  EXPECT_THAT(table("html"), HasSubstr("<td class=\"n\">41.2 ± 0.7</td>"));
}

TEST_F(SpreadsTest, AreInTheFormatOfTheColumn) {
  analyse("{format: 8.2f, _: t}", {"t=41.5", "t=41.2", "t=40.9"});
  EXPECT_THAT(table("markdown"), HasSubstr("| 41.20 ± 0.75 |"));
}

TEST_F(SpreadsTest, AreNotThoseOfStatisticsThatAreAskedFor) {
  analyse("[t_first, t_avg, t_median]", {"t=41.5", "t=41.1", "t=40.9"});
  EXPECT_EQ(table("pretty"), R"(r:
| t_first[s] |           t_avg[s] | t_median[s] |
|------------|--------------------|-------------|
|       41.5 | 41.166666666666664 |        41.1 |
)");
}

TEST_F(SpreadsTest, AreNotShownBesideAStatisticOfTheSame) {
  analyse("[t, t_last]", {"t=41.5", "t=41.1", "t=40.9"});
  EXPECT_EQ(table("pretty"),
            "r:\n| t[s] | t_last[s] |\n|------|-----------|\n| 41.1 |      40.9 |\n");
}

TEST_F(SpreadsTest, AreNotThereWhereAllValuesAreTheSame) {
  analyse("t", {"t=41.5", "t=41.5", "t=41.5"});
  EXPECT_EQ(table("pretty"), "r:\n| t[s] |\n|------|\n| 41.5 |\n");
}

TEST_F(SpreadsTest, AreNotThereWhereAnIterationHasSeveralValues) {
  analyse("t", {"t=3\nt=2\nt=1", "t=4", "t=5"});
  EXPECT_EQ(table("pretty"),
            "r:\n| t[s] |\n|------|\n|  3.0 |\n"
            "t: the first value, not the median: 1 row, workpackage 0: several matches in 1 of 3 "
            "iterations\n");
}

TEST_F(SpreadsTest, SayNothingWhereAllIterationsHaveSeveralValues) {
  analyse("t", {"t=3\nt=2", "t=4\nt=5"});
  EXPECT_EQ(table("pretty"), "r:\n| t[s] |\n|------|\n|  3.0 |\n");
}

TEST_F(SpreadsTest, AreThereWithoutAWidthWhereNearlyAllValuesAreTheSame) {
  std::vector<std::string> texts(20, "t=41.5");
  texts.front() = "t=40";
  analyse("t", texts);
  EXPECT_EQ(table("csv"), "t[s]\n41.5\n");
  EXPECT_THAT(table("pretty"), HasSubstr("| 41.5 * |"));
}

TEST_F(SpreadsTest, AreNotThereWhereAValueIsNotANumberNorIsTheMedianOne) {
  analyse("u", {"u=41.5", "u=nan", "u=40"}, {}, any_text);
  EXPECT_EQ(table("pretty"), "r:\n|   u |\n|-----|\n| nan |\n");
  EXPECT_EQ(table("csv"), "u\nnan\n");
}

TEST_F(SpreadsTest, AreNotThereWhereTheIntervalIsInfiniteButTheMedianIs) {
  analyse("u", {"u=inf", "u=41.5", "u=40"}, {}, any_text);
  EXPECT_EQ(table("pretty"), "r:\n|    u |\n|------|\n| 41.5 |\n");
}

TEST_F(SpreadsTest, CountNoFailedIteration) {
  analyse("t", {"t=41.5", "t=1000", "t=40.9"}, {{1, State::failed}});
  EXPECT_EQ(table("pretty"),
            "r:\n|   t[s] |\n|--------|\n| 41 ± 4 |\n"
            "2 of 3 iterations count: 1 row, workpackage 1: exit code 1\n"
            "± in t: median of the iterations and its 95 % confidence interval\n");
}

TEST_F(SpreadsTest, SayOnceWhichIterationsThatAreDoneLackAValue) {
  analyse("[n, t, t_cnt]", {"t=41.5", "", "t=40.9", ""}, {{3, State::failed}});
  EXPECT_THAT(
      table("pretty"),
      HasSubstr("\n3 of 4 iterations count: 1 row, workpackage 3: exit code 1\n"
                "t: 2 of 3 iterations have a value: 1 row, workpackage 1: no match in out\n"));
}

TEST_F(SpreadsTest, SayNothingOfAStatisticThatASingleValueDoesNotNeed) {
  analyse("[n, t_avg, t_first]", {"t=3\nt=2\nt=1", "t=4", "t=5"});
  EXPECT_THAT(table("pretty"), Not(HasSubstr("iterations have a value")));
}

TEST_F(SpreadsTest, SayNothingOfWhatAllIterationsLack) {
  analyse("[n, t]", {"", "", ""});
  EXPECT_THAT(table("pretty"), Not(HasSubstr("iterations have a value")));
}

TEST_F(SpreadsTest, NeedTwoValues) {
  analyse("t", {"t=41.5", "t=1000", ""}, {{1, State::failed}});
  EXPECT_THAT(table("pretty"), HasSubstr("| 41.5 |"));
}

TEST_F(SpreadsTest, MarkOutliersAndSayWhichTheyAre) {
  analyse("t", {"t=10.1", "t=10.0", "t=17.0", "t=10.2", "t=9.9"});
  const std::string text = table("pretty");
  EXPECT_THAT(text, HasSubstr("| 10 ± 5 * |"));
  EXPECT_THAT(text, HasSubstr("\n* in t: outlier among the iterations: workpackage 2\n"));
}

TEST_F(SpreadsTest, AreNotThoseOfDerivedPatternsWhichAreOfTheWholeRow) {
  analyse("rate", {"t=1", "t=2", "t=3"}, {},
          ", {name: rate, type: float, mode: python, _: 100 / $t_avg}");
  EXPECT_THAT(table("pretty"), HasSubstr("| 50.0 |"));
}

TEST_F(SpreadsTest, AreNotThereBeforeTheIterationsWereAnalysedOneByOne) {
  analyse("t", {"t=41.5", "t=41.2", "t=40.9"});
  analyses_.erase("a, each iteration");
  EXPECT_THAT(table("pretty"), Not(HasSubstr("±")));
}

TEST_F(SpreadsTest, AreHowManyOutliersThereAreWhereThatIsAskedFor) {
  analyse("[t_outliers, t_cnt]", {"t=10.1", "t=10.0", "t=17.0", "t=10.2", "t=9.9"});
  EXPECT_EQ(table(), "t_outliers,t_cnt\n1,5\n");
}

struct SpreadCase {
  std::string name;
  double median;
  double low;
  double high;
  std::string format;
  std::string expected;
};
class SpreadTest : public testing::TestWithParam<SpreadCase> {};

TEST_P(SpreadTest, IsAsExactAsItIsKnown) {
  const SpreadCase& one = GetParam();
  Table table;
  table.headings = {{.title = "t"}};
  table.rows = {{{.value = one.median,
                  .format = one.format,
                  .spread = std::make_shared<Spread>(
                      Spread{.median = one.median, .low = one.low, .high = one.high})}}};
  const std::string text = render(table, "pretty", Notes::none);
  EXPECT_NE(text.find("| " + one.expected + " |\n"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Texts, SpreadTest,
    testing::Values(SpreadCase{"OneDigit", 41.2345, 40.9, 41.5, "", "41.2 ± 0.3"},
                    SpreadCase{"TwoDigitsOfWhatBeginsWithOne", 41.2345, 41.1, 41.3, "",
                               "41.23 ± 0.13"},
                    SpreadCase{"FartherEnd", 41.2, 41.1, 44.2, "", "41 ± 3"},
                    SpreadCase{"Large", 98765.4, 97000, 98800, "", "98765 ± 1765"},
                    SpreadCase{"Huge", 1e20, 8e19, 1.1e20, "", "1.00e+20 ± 2.0e+19"},
                    SpreadCase{"Small", 3.4e-9, 3.1e-9, 3.7e-9, "", "3.4e-09 ± 3e-10"},
                    SpreadCase{"AroundZero", 0, -3e-9, 3e-9, "", "0e+00 ± 3e-09"},
                    SpreadCase{"Format", 41.2345, 40.9, 41.5, ".3f", "41.234 ± 0.334"},
                    SpreadCase{"FormatWithWidth", 41.2345, 40.9, 41.5, ">9.1f", "41.2 ± 0.3"},
                    SpreadCase{"FormatOfIntegers", 41.5, 41, 42, "d", "41.5 ± 0.5"}),
    support::case_name);

}  // namespace

}  // namespace bench::results
