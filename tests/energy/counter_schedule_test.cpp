#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <bench/energy/sources/nvml.hpp>

namespace bench::energy {
namespace {

/// How a counter was read that moves every `period_s`, by ticks every 10 ms over 10 s.
struct Reads {
  int count = 0;
  double largest_error_s = 0;  ///< Of the times of its movements.
};

Reads read_every(double period_s) {
  CounterSchedule schedule(0.1);
  Reads reads;
  double shown_j = -1;
  for (int tick = 0; tick < 1000; ++tick) {
    const double time_s = 0.01 * tick + 0.003 * std::sin(tick);
    if (!schedule.is_due(time_s))
      continue;
    const double moved_s = 0.033 + period_s * std::floor((time_s - 0.033) / period_s);
    ++reads.count;
    schedule.add(time_s, moved_s);
    if (moved_s != shown_j && reads.count > 1 && moved_s > 0)
      reads.largest_error_s =
          std::max(reads.largest_error_s, std::abs(time_s - schedule.age_s(time_s) - moved_s));
    shown_j = moved_s;
  }
  return reads;
}

TEST(CounterSchedule, ReadsHardlyMoreOftenThanTheCounterMoves) {
  EXPECT_LE(read_every(0.1).count, 100 * 3 / 2 + 10);
  EXPECT_LE(read_every(0.103).count, 97 * 3 / 2 + 50);
}

TEST(CounterSchedule, KnowsTheMovementsToATick) {
  EXPECT_LE(read_every(0.1).largest_error_s, 0.011);
  EXPECT_LE(read_every(0.103).largest_error_s, 0.011);
}

TEST(CounterSchedule, OneThatMovesAllTheTimeIsAskedOncePerPeriod) {
  const Reads reads = read_every(1e-6);
  EXPECT_LE(reads.count, 102);
  EXPECT_LE(reads.largest_error_s, 0.02);
}

}  // namespace
}  // namespace bench::energy
