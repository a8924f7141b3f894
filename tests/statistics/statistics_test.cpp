#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/value.hpp>
#include <bench/statistics/statistics.hpp>

namespace bench::statistics {
namespace {

TEST(StatisticOf, IsTheLongestSuffix) {
  EXPECT_EQ(statistic_of("time_sum2")->suffix, "_sum2");
  EXPECT_EQ(statistic_of("time_sum")->suffix, "_sum");
  EXPECT_EQ(statistic_of("time"), nullptr);
}

TEST(WithoutSuffix, IsTheNameBehindAStatistic) {
  EXPECT_EQ(without_suffix("time_avg"), "time");
  EXPECT_EQ(without_suffix("time_avg_first"), "time_avg");
  EXPECT_EQ(without_suffix("average"), "average");
}

struct Median {
  std::string name;
  std::vector<Value> values;
  std::string expected;
};
void PrintTo(const Median& median, std::ostream* out) {
  *out << median.name;
}

class MedianTest : public testing::TestWithParam<Median> {};

TEST_P(MedianTest, IsInTheMiddle) {
  const std::vector<Value>& values = GetParam().values;
  const Numbers numbers = numbers_of(values);
  EXPECT_EQ(to_text(statistic_of("time_median")->compute(values, &numbers)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Values, MedianTest,
    testing::Values(Median{"One", {7LL}, "7.0"}, Median{"Odd", {9LL, 1LL, 2LL}, "2.0"},
                    Median{"Even", {9.0, 0.1, 2.0, 0.2}, "1.1"},
                    Median{"Large", {std::string("36893488147419103232"), 1LL, 0LL}, "1.0"},
                    Median{"NotANumber", {1.0, std::nan(""), 2.0}, "nan"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace bench::statistics
