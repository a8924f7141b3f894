#include <thread>

#include <gtest/gtest.h>

#include <bench/energy/core/ticks.hpp>

namespace bench::energy {
namespace {

using namespace std::chrono_literals;

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
