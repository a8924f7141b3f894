#include <gtest/gtest.h>

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

}  // namespace
}  // namespace bench::statistics
