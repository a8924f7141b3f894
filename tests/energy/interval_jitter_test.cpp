#include <cmath>

#include <gtest/gtest.h>

#include <bench/energy/core/channel_meter.hpp>

namespace bench::energy {
namespace {

TEST(IntervalJitter, IsAbsentWithoutIntervals) {
  IntervalJitter jitter;
  EXPECT_FALSE(jitter.standard_deviation_s());
  EXPECT_FALSE(jitter.p99_s());
  jitter.add(0.1, 0.1);
  EXPECT_FALSE(jitter.standard_deviation_s());
  EXPECT_TRUE(jitter.p99_s());
}

TEST(IntervalJitter, OfAPerfectClockIsNothing) {
  IntervalJitter jitter;
  for (int i = 0; i < 1000; ++i)
    jitter.add(0.1 + 0.01 * (i % 7), 0.1 + 0.01 * (i % 7));  // what was wanted differs too
  EXPECT_LT(*jitter.standard_deviation_s(), 1e-12);
  EXPECT_NEAR(*jitter.p99_s(), 1e-6, 0.02e-6);
}

TEST(IntervalJitter, HasTheStandardDeviationOfTheDifferences) {
  IntervalJitter jitter;
  for (const double difference_s : {0.002, 0.004, 0.004, 0.004, 0.005, 0.005, 0.007, 0.009})
    jitter.add(1e3 + difference_s, 1e3);
  EXPECT_NEAR(*jitter.standard_deviation_s(), 0.001 * std::sqrt(32.0 / 7), 1e-9);
}

TEST(IntervalJitter, P99LeavesOutTheWorstHundredth) {
  IntervalJitter jitter;
  for (int i = 0; i < 990; ++i)
    jitter.add(0.1 + (i % 2 ? 0.002 : -0.002), 0.1);  // early counts as late does
  for (int i = 0; i < 10; ++i)
    jitter.add(2, 0.1);
  EXPECT_GE(*jitter.p99_s(), 0.002);
  EXPECT_LE(*jitter.p99_s(), 0.002 * 1.0625);
  jitter.add(2, 0.1);
  EXPECT_GE(*jitter.p99_s(), 1.9);
}

TEST(IntervalJitter, TakesWhatIsBeyondItsScale) {
  IntervalJitter jitter;
  jitter.add(1e6, 0.1);
  EXPECT_DOUBLE_EQ(*jitter.p99_s(), 1024);
}

}  // namespace
}  // namespace bench::energy
