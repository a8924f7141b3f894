#include "results/work_directory.hpp"
#include "support/case_name.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/value.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/group.hpp>

namespace bench::results {
namespace {

struct StatisticsCase {
  std::string name;
  ValueType type;
  std::string text;  ///< The values, one in each line.
  std::map<std::string, std::string> expected;
};
class StatisticsTest : public WorkDirectory, public testing::WithParamInterface<StatisticsCase> {};

TEST_P(StatisticsTest, AreThoseComputedByHand) {
  scan(GetParam().text, {pattern("p", "^.+$", GetParam().type)});
  const FoundValues all = findings();
  std::map<std::string, std::string> found;
  for (const auto& [name, finding] : all)
    found[name] = shown(all, name);
  EXPECT_EQ(found, GetParam().expected);
}

using enum ValueType;
INSTANTIATE_TEST_SUITE_P(
    Values, StatisticsTest,
    testing::Values(
        StatisticsCase{"Texts",
                       string,
                       "b\na",
                       {{"p", "b"}, {"p_first", "b"}, {"p_last", "a"}, {"p_cnt", "2"}}},
        // avg 3, deviations -2 -1 3, std sqrt(14 / 2)
        StatisticsCase{"Integers",
                       integer,
                       "1\n2\n6",
                       {{"p", "1"},
                        {"p_first", "1"},
                        {"p_last", "6"},
                        {"p_cnt", "3"},
                        {"p_min", "1"},
                        {"p_max", "6"},
                        {"p_sum", "9"},
                        {"p_sum2", "41"},
                        {"p_avg", "3.0"},
                        {"p_std", "2.6457513110645907"}}},
        StatisticsCase{"OneInteger",
                       integer,
                       "3.7",
                       {{"p", "3"},
                        {"p_first", "3"},
                        {"p_last", "3"},
                        {"p_cnt", "1"},
                        {"p_min", "3"},
                        {"p_max", "3"},
                        {"p_sum", "3"},
                        {"p_sum2", "9"},
                        {"p_avg", "3.0"},
                        {"p_std", "0"}}},
        StatisticsCase{"Reals",
                       real,
                       "1.5\n-2.5",
                       {{"p", "1.5"},
                        {"p_first", "1.5"},
                        {"p_last", "-2.5"},
                        {"p_cnt", "2"},
                        {"p_min", "-2.5"},
                        {"p_max", "1.5"},
                        {"p_sum", "-1.0"},
                        {"p_sum2", "8.5"},
                        {"p_avg", "-0.5"},
                        {"p_std", "2.8284271247461903"}}},
        // avg ...000.25, std sqrt(2) * 0.125; sum2 - sum^2/n has no digit left of it.
        StatisticsCase{"CloseTogether",
                       real,
                       "1000000000.125\n1000000000.375",
                       {{"p", "1000000000.125"},
                        {"p_first", "1000000000.125"},
                        {"p_last", "1000000000.375"},
                        {"p_cnt", "2"},
                        {"p_min", "1000000000.125"},
                        {"p_max", "1000000000.375"},
                        {"p_sum", "2000000000.5"},
                        {"p_sum2", "2.000000001e+18"},
                        {"p_avg", "1000000000.25"},
                        {"p_std", "0.1767766952966369"}}},
        // 2^63 - 1 twice: the sums leave 64 and 128 bits.
        StatisticsCase{"LargeIntegers",
                       integer,
                       "9223372036854775807\n9223372036854775807",
                       {{"p", "9223372036854775807"},
                        {"p_first", "9223372036854775807"},
                        {"p_last", "9223372036854775807"},
                        {"p_cnt", "2"},
                        {"p_min", "9223372036854775807"},
                        {"p_max", "9223372036854775807"},
                        {"p_sum", "18446744073709551614"},
                        {"p_sum2", "170141183460469231694793815568465002498"},
                        {"p_avg", "9.223372036854776e+18"},
                        {"p_std", "0.0"}}},
        StatisticsCase{"IntegersBeyond64Bits",
                       integer,
                       "9\n99999999999999999999999999\n-1e20",
                       {{"p", "9"},
                        {"p_first", "9"},
                        {"p_last", "-100000000000000000000"},
                        {"p_cnt", "3"},
                        {"p_min", "-100000000000000000000"},
                        {"p_max", "99999999999999999999999999"},
                        {"p_sum", "99999900000000000000000008"},
                        {"p_sum2", "10000000000009999999999999800000000000000000000000082"},
                        {"p_avg", "3.33333e+25"},
                        {"p_std", "5.773505578649769e+25"}}},
        // In doubles the sum would be 6.1000000000000005, the mean 2.0333333333333337.
        StatisticsCase{"SumsWithoutRoundingErrors",
                       real,
                       "1.2\n2.2\n2.7",
                       {{"p", "1.2"},
                        {"p_first", "1.2"},
                        {"p_last", "2.7"},
                        {"p_cnt", "3"},
                        {"p_min", "1.2"},
                        {"p_max", "2.7"},
                        {"p_sum", "6.1"},
                        {"p_sum2", "13.57"},
                        {"p_avg", "2.033333333333333"},
                        {"p_std", "0.7637626158259732"}}},
        // So far apart that no double holds the sum.
        StatisticsCase{"LargeAndSmall",
                       real,
                       "1e300\n1e-300\n-1e300\n1e-300",
                       {{"p", "1e+300"},
                        {"p_first", "1e+300"},
                        {"p_last", "1e-300"},
                        {"p_cnt", "4"},
                        {"p_min", "-1e+300"},
                        {"p_max", "1e+300"},
                        {"p_sum", "2e-300"},
                        {"p_sum2", "inf"},
                        {"p_avg", "5e-301"},
                        {"p_std", "inf"}}},
        StatisticsCase{"Nan",
                       real,
                       "1\nnan",
                       {{"p", "1.0"},
                        {"p_first", "1.0"},
                        {"p_last", "nan"},
                        {"p_cnt", "2"},
                        {"p_min", "nan"},
                        {"p_max", "nan"},
                        {"p_sum", "nan"},
                        {"p_sum2", "nan"},
                        {"p_avg", "nan"},
                        {"p_std", "nan"}}},
        StatisticsCase{"NothingMatched", real, "", {{"p", "absent: no match in out0"}}}),
    support::case_name);

class FindingsTest : public WorkDirectory {};

TEST_F(FindingsTest, UnitsBelongToAllButCountAndSquares) {
  model::Pattern& p = editable("p", "\\d", integer);
  p.unit = "s";
  scan("1", {&p});
  std::string without;
  for (const auto& [name, finding] : findings())
    if (finding.unit != "s")
      without += name + " ";
  EXPECT_EQ(without, "p_cnt p_sum2 ");
}

TEST_F(FindingsTest, DefaultStandsWhereNothingMatched) {
  model::Pattern& p = editable("p", "x", real);
  p.default_value = "-1";
  scan("1", {&p});
  const FoundValues all = findings();
  for (const char* name : {"p", "p_first", "p_last", "p_min", "p_max", "p_sum", "p_avg"})
    EXPECT_EQ(shown(all, name), "-1.0");
  EXPECT_EQ(shown(all, "p_cnt"), "0");
  EXPECT_EQ(shown(all, "p_std"), "0");
  EXPECT_EQ(all.size(), 9);
}

TEST_F(FindingsTest, DefaultOfATextHasNoNumbers) {
  model::Pattern& p = editable("p", "x");
  p.default_value = "none";
  scan("1", {&p});
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "p"), "none");
  EXPECT_EQ(all.size(), 4);
}

// In two passes these would be 1.0999999999999999 and 3.5360052790307503.
TEST_F(FindingsTest, DeviationsAreThoseOfJubeToTheLastDigit) {
  scan("1.1 2.2 3.3", {pattern("p", "\\S+", real)});
  scan("3.3 4.4 9.9", {pattern("q", "\\S+", real)});
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "p_std"), "1.1");
  EXPECT_EQ(shown(all, "q_std"), "3.5360052790307486");
}

TEST_F(FindingsTest, TextsThatAreNoNumbersAreLeftOutWithAWarning) {
  scan("v=1 v=a v=b v=3", {pattern("p", "v=(\\S)", integer)});
  Diagnostics diagnostics;
  EXPECT_EQ(shown(findings(&diagnostics), "p_sum"), "4");
  ASSERT_EQ(diagnostics.warnings().size(), 1);
  EXPECT_EQ(diagnostics.warnings()[0].message, "pattern 'p' matched 'a', which is not a number");
  EXPECT_EQ(diagnostics.warnings()[0].place, (Place{"b.yaml", 1, 1}));
}

TEST_F(FindingsTest, APatternWithoutASingleNumberIsAbsent) {
  scan("v=a", {pattern("p", "v=(\\S)", real)});
  EXPECT_EQ(shown(findings(), "p"), "absent: 'a' is not a number");
  EXPECT_EQ(shown(findings(), "p_avg"), "absent: 'a' is not a number");
}

}  // namespace
}  // namespace bench::results
