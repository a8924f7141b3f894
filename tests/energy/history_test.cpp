#include <gtest/gtest.h>

#include <bench/energy/core/integrate.hpp>

namespace bench::energy {
namespace {

/// A point each second, the first at 0 s.
History of(int points) {
  History history;
  for (int k = 0; k < points; ++k)
    history.add({.time_s = 1.0 * k, .power_w = 10.0 * k, .energy_j = 100.0 * k});
  return history;
}

TEST(History, FindsTheNeighboursOfAMoment) {
  const auto pair = of(10).around(3.25);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->before.time_s, 3);
  EXPECT_EQ(pair->after.energy_j, 400);
}

TEST(History, FindsTheEnds) {
  EXPECT_EQ(of(3).around(0)->before.time_s, 0);
  EXPECT_EQ(of(3).around(2)->after.time_s, 2);
}

TEST(History, KnowsNothingOutsideOfItsPoints) {
  EXPECT_FALSE(of(3).around(-0.1));
  EXPECT_FALSE(of(3).around(2.1));
  EXPECT_FALSE(of(1).around(0));
  EXPECT_FALSE(History().around(0));
}

TEST(History, HasAsMuchRoomAsItIsGiven) {
  History history(3);
  for (int k = 0; k < 5; ++k) {
    history.add({.time_s = 1.0 * k});
    EXPECT_EQ(history.last().time_s, k);
  }
  EXPECT_EQ(history.around(2.5)->before.time_s, 2);
}

TEST(History, KeepsTheFirstPointsToo) {
  const History history = of(1000);
  EXPECT_EQ(history.around(3.5)->before.time_s, 3);
  EXPECT_EQ(history.first_from(-5)->time_s, 0);
  EXPECT_EQ(history.first_from(2.5)->time_s, 3);
  EXPECT_EQ(history.first_from(3)->time_s, 3);
  EXPECT_EQ(history.last_until(998.5)->time_s, 998);
  EXPECT_EQ(history.last_until(2000)->time_s, 999);
  EXPECT_FALSE(history.first_from(999.5));
  EXPECT_FALSE(history.last_until(-1));
  EXPECT_FALSE(History().first_from(0));
}

TEST(History, ForgetsTheOldest) {
  const History history = of(1000);
  EXPECT_EQ(history.last().time_s, 999);
  EXPECT_FALSE(history.around(500));
  EXPECT_EQ(history.around(999 - 254.5)->before.time_s, 744);
  EXPECT_FALSE(history.around(743.5));
}

}  // namespace
}  // namespace bench::energy
