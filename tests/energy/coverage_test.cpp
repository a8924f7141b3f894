#include <gtest/gtest.h>

#include <bench/energy/core/channel_meter.hpp>

namespace bench::energy {
namespace {

TEST(Coverage, ReadingsThatAreNearEnoughLeaveNoHole) {
  Coverage coverage(0.3);
  for (const double time_s : {0.2, 0.45, 0.7, 0.95})
    coverage.add(time_s);
  EXPECT_EQ(coverage.missing_until_s(1.2), 0);
}

TEST(Coverage, TimeWithoutReadingsIsAHoleAlsoAtBothEnds) {
  Coverage coverage(0.3);
  for (const double time_s : {0.5, 0.7, 2.0})
    coverage.add(time_s);
  EXPECT_DOUBLE_EQ(coverage.missing_until_s(2), 0.5 + 1.3);
  EXPECT_DOUBLE_EQ(coverage.missing_until_s(3), 0.5 + 1.3 + 1);
  EXPECT_DOUBLE_EQ(coverage.missing_between_s(0.4, 1.2), 0.1 + 0.5);
}

TEST(Coverage, ADifferenceHoldsWhatLiesBetweenTwoReadings) {
  Coverage coverage(0.3);
  coverage.add_difference(-0.1, 0);
  coverage.add_difference(5, 0);
  coverage.add_difference(6, 0.25);
  EXPECT_DOUBLE_EQ(coverage.missing_until_s(6), 0.25);
}

TEST(Coverage, NoReadingIsNoCoverage) {
  EXPECT_EQ(Coverage(0.3).missing_until_s(2), 2);
}

TEST(Coverage, ManyHolesAreCounted) {
  Coverage coverage(0.3);
  for (int k = 1; k <= 5000; ++k)
    coverage.add(k);
  EXPECT_DOUBLE_EQ(coverage.missing_until_s(5000), 5000);
}

TEST(Coverage, ATwentiethMayBeMissing) {
  EXPECT_TRUE(is_covered(0.05, 1));
  EXPECT_FALSE(is_covered(0.051, 1));
}

}  // namespace
}  // namespace bench::energy
