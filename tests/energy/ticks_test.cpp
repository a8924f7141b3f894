#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include <bench/energy/core/ticks.hpp>

namespace bench::energy {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using namespace std::chrono_literals;

TEST(Ticks, StepsAreDitheredAroundTheInterval) {
  const Clock::time_point start{};
  Ticks ticks(start, milliseconds(100));
  Clock::time_point last = start;
  constexpr int count = 2000;
  for (int i = 0; i < count; ++i) {
    const auto deadline = ticks.next(last);
    EXPECT_GE(deadline - last, milliseconds(50));
    EXPECT_LE(deadline - last, milliseconds(150));
    last = deadline;
  }
  EXPECT_NEAR(std::chrono::duration<double>(last - start).count() / count, 0.1, 0.003);
  EXPECT_EQ(ticks.overruns(), 0U);
}

TEST(Ticks, AreTheSameInEveryRun) {
  Ticks a(Clock::time_point{}, milliseconds(10));
  Ticks b(Clock::time_point{}, milliseconds(10));
  EXPECT_EQ(a.next({}), b.next({}));
}

TEST(Ticks, MissedDeadlinesAreSkippedNotMadeUpFor) {
  Ticks ticks(Clock::time_point{}, milliseconds(10));
  const Clock::time_point late = Clock::time_point{} + milliseconds(500);
  const auto deadline = ticks.next(late);
  EXPECT_GE(deadline - late, milliseconds(5));
  EXPECT_EQ(ticks.overruns(), 1U);
  EXPECT_GE(ticks.next(deadline) - deadline, milliseconds(5));
  EXPECT_EQ(ticks.overruns(), 1U);
}

TEST(Ticks, AreTheSameAgainAfterAMissedOne) {
  Ticks punctual(Clock::time_point{}, milliseconds(10));
  Ticks late(Clock::time_point{}, milliseconds(10));
  Clock::time_point now{};
  for (int k = 0; k < 10; ++k)
    now = punctual.next(now);
  auto deadline = late.next(now - milliseconds(30));
  while (deadline < now)
    deadline = late.next(deadline);
  EXPECT_EQ(deadline, now);
}

TEST(Ticks, OfASlowSamplerAreSomeOfTheOthers) {
  Ticks slow(Clock::time_point{}, milliseconds(10), milliseconds(100));
  Ticks fast(Clock::time_point{}, milliseconds(10));
  Clock::time_point last{};
  Clock::time_point other{};
  for (int k = 0; k < 20; ++k) {
    const auto deadline = slow.next(last);
    EXPECT_GE(deadline - last, milliseconds(97));
    EXPECT_LE(deadline - last, milliseconds(113));
    while (other < deadline)
      other = fast.next(other);
    EXPECT_EQ(other, deadline);
    last = deadline;
  }
  EXPECT_EQ(slow.overruns(), 0U);
}

constexpr auto long_enough = 60s;  // a wait that lasts as long has failed

TEST(Event, EndsTheWaitsOfAllThreads) {
  Event event;
  const auto deadline = Clock::now() + long_enough;
  {
    const std::jthread first([&] { event.wait_until(deadline); });
    const std::jthread second([&] { event.wait_until(deadline); });
    event.happen();
  }
  EXPECT_LT(Clock::now(), deadline);
  EXPECT_TRUE(event.has_happened());
}

TEST(Event, IsNotWaitedForOnceItHasHappened) {
  Event event;
  event.happen();
  const auto deadline = Clock::now() + long_enough;
  event.wait_until(deadline);
  EXPECT_LT(Clock::now(), deadline);
}

TEST(Event, IsWaitedForUntilTheDeadlineAndNoLonger) {
  const Event event;
  const auto deadline = Clock::now() + 5ms;
  event.wait_until(deadline);
  EXPECT_GE(Clock::now(), deadline);
  EXPECT_FALSE(event.has_happened());
}

TEST(Event, IsNotWaitedForBehindTheDeadline) {
  const Event event;
  event.wait_until(Clock::time_point{} - 1s);  // before the machine was started
  event.wait_until(Clock::now() - 1s);
  EXPECT_FALSE(event.has_happened());
}

}  // namespace
}  // namespace bench::energy
