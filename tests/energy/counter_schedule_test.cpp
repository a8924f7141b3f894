#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <bench/energy/sources/counter_schedule.hpp>

namespace bench::energy {
namespace {

/// How a counter was looked at that moves every `period_s`, by ticks every 10 ms over 10 s.
struct Looks {
  int count = 0;
  double largest_error_s = 0;  ///< Of the times of its movements.
};

Looks look_at(double period_s) {
  CounterSchedule schedule(0.1);
  Looks looks;
  double shown_j = -1;
  for (int tick = 0; tick < 1000; ++tick) {
    const double time_s = 0.01 * tick + 0.003 * std::sin(tick);
    if (!schedule.is_due(time_s))
      continue;
    const double moved_s = 0.033 + period_s * std::floor((time_s - 0.033) / period_s);
    ++looks.count;
    schedule.look(time_s, moved_s);
    if (moved_s != shown_j && looks.count > 1 && moved_s > 0)
      looks.largest_error_s =
          std::max(looks.largest_error_s, std::abs(time_s - schedule.age_s(time_s) - moved_s));
    shown_j = moved_s;
  }
  return looks;
}

TEST(CounterSchedule, LooksHardlyMoreOftenThanTheCounterMoves) {
  EXPECT_LE(look_at(0.1).count, 100 * 3 / 2 + 10);
  EXPECT_LE(look_at(0.103).count, 97 * 3 / 2 + 50);
}

TEST(CounterSchedule, KnowsTheMovementsToATick) {
  EXPECT_LE(look_at(0.1).largest_error_s, 0.011);
  EXPECT_LE(look_at(0.103).largest_error_s, 0.011);
}

TEST(CounterSchedule, OneThatMovesAllTheTimeIsAskedOncePerPeriod) {
  const Looks looks = look_at(1e-6);
  EXPECT_LE(looks.count, 102);
  EXPECT_LE(looks.largest_error_s, 0.02);
}

}  // namespace
}  // namespace bench::energy
