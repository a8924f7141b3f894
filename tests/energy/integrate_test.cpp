#include "energy/fixtures.hpp"

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/integrate.hpp>
#include <bench/energy/core/ticks.hpp>

namespace bench::energy {
namespace {

using Points = std::vector<std::pair<double, double>>;  // seconds, watts or joules

struct IntegrateCase {
  std::string name;
  Points points;
  double end_s;
  std::optional<double> expected_j;
  double averaging_window_s = 0;
};

class WindowIntegralTest : public testing::TestWithParam<IntegrateCase> {};

TEST_P(WindowIntegralTest, MatchesClosedForm) {
  WindowIntegral integral(GetParam().averaging_window_s);
  for (const auto& [time_s, power_w] : GetParam().points)
    integral.add(time_s, power_w);
  integral.close(GetParam().end_s);
  const auto energy_j = integral.energy_until_j(GetParam().end_s);
  ASSERT_EQ(energy_j.has_value(), GetParam().expected_j.has_value());
  if (energy_j) {
    EXPECT_DOUBLE_EQ(*energy_j, *GetParam().expected_j);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Energy, WindowIntegralTest,
    testing::Values(
        IntegrateCase{"Constant", {{0, 100}, {4, 100}, {10, 100}}, 10, 1000},
        IntegrateCase{"Ramp", {{0, 0}, {3, 30}, {10, 100}}, 10, 500},
        IntegrateCase{"Square", {{0, 100}, {0.999999, 100}, {1.000001, 300}, {2, 300}}, 2, 400},
        IntegrateCase{"FirstSampleReachesBackToTheStart", {{2, 50}, {10, 50}}, 10, 500},
        IntegrateCase{"LastSampleReachesForwardToTheEnd", {{0, 100}, {6, 200}}, 10, 900 + 800},
        IntegrateCase{"SampleBeforeTheStartIsNotUsed", {{-1, 10}, {1, 100}}, 2, 200},
        IntegrateCase{"OneSampleIsEnough", {{0.1, 300}}, 0.5, 150},
        IntegrateCase{"NoSampleInside", {{-1, 10}}, 2, std::nullopt},
        IntegrateCase{
            "AveragingSensorShowsThePast", {{1, 0}, {2, 100}, {3, 100}}, 2.5, 50 + 100, 1}),
    [](const auto& test) { return test.param.name; });

TEST(WindowIntegral, TakesLateSamplesOfTheWindowAndNoOthers) {
  WindowIntegral integral(1);  // a reading at 2.4 s stands for 1.9 s
  integral.add(0.5, 100);
  integral.close(2);
  integral.add(2.4, 200);
  integral.add(2.6, 1e6);
  EXPECT_DOUBLE_EQ(*integral.energy_until_j(2), 150 * 1.9 + 200 * 0.1);
}

class CounterDifferenceTest : public testing::TestWithParam<IntegrateCase> {};

TEST_P(CounterDifferenceTest, MatchesClosedForm) {
  CounterDifference counter;
  for (const auto& [time_s, energy_j] : GetParam().points) {
    if (time_s > GetParam().end_s)
      counter.close(GetParam().end_s);
    counter.add({.time_s = time_s, .energy_j = energy_j});
  }
  counter.close(GetParam().end_s);
  const auto energy_j = counter.energy_until_j(GetParam().end_s);
  ASSERT_EQ(energy_j.has_value(), GetParam().expected_j.has_value());
  if (energy_j) {
    EXPECT_NEAR(*energy_j, *GetParam().expected_j, 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Energy, CounterDifferenceTest,
    testing::Values(
        IntegrateCase{"ExactEdges", {{0, 1000}, {5, 1400}, {10, 2000}}, 10, 1000},
        IntegrateCase{
            "InterpolatesBothEdges", {{-1, 0}, {1, 200}, {9, 1000}, {11, 1200}}, 10, 1000},
        IntegrateCase{
            "OnlyTheLastReadingBeforeTheStartCounts", {{-9, 0}, {-1, 800}, {1, 1000}}, 1, 100},
        IntegrateCase{"BothReadingsOutside", {{-1, 0}, {3, 400}}, 2, 200},
        IntegrateCase{"MissingHeadAndTailAreExtended", {{2, 0}, {8, 600}}, 10, 1000},
        IntegrateCase{"OneReadingSaysNothing", {{-1, 5}}, 10, std::nullopt},
        IntegrateCase{"ResetIsNoEnergy", {{0, 500}, {1, 600}, {2, 10}}, 3, std::nullopt}),
    [](const auto& test) { return test.param.name; });

/// 250 W, counted in steps of 0.1 s from 0.03 s on, and read every 7 ms from before the start
/// on.
void check_steps(CounterDifference& counter, double end_s, double sensor_clock_s = 0) {
  for (double time_s = -0.005; time_s <= end_s; time_s += 0.007) {
    const double moved_s = 0.03 + 0.1 * std::floor((time_s - 0.03) / 0.1);
    CounterReading reading{.time_s = time_s, .energy_j = 1e6 + 250 * moved_s};
    if (sensor_clock_s != 0)
      reading.stamp_s = sensor_clock_s + moved_s;
    counter.add(reading);
  }
}

TEST(CounterDifference, LocatesTheMovementsOfACounter) {
  CounterDifference counter(0.1);
  check_steps(counter, 2);
  counter.close(2);
  EXPECT_NEAR(counter.first_inside()->time_s, 0.03, 0.0036);
  EXPECT_NEAR(counter.last_until(2)->time_s, 1.93, 0.0036);
  EXPECT_NEAR(*counter.energy_until_j(2) / 500, 1, 0.005);
}

TEST(CounterDifference, TakesTheSensorsOwnTimes) {
  CounterDifference counter(0.1);
  check_steps(counter, 2, 1.7e9);
  counter.close(2);
  EXPECT_NEAR(counter.first_inside()->time_s, 0.03, 0.0072);
  EXPECT_NEAR(*counter.energy_until_j(2) / 500, 1, 1e-6);
}

TEST(CounterDifference, ASensorClockThatIsSetBackEndsTheCounter) {
  CounterDifference counter(0.1);
  counter.add({.time_s = 0, .energy_j = 1, .stamp_s = 50});
  counter.add({.time_s = 1, .energy_j = 2, .stamp_s = 10});
  counter.close(1);
  EXPECT_FALSE(counter.energy_until_j(1));
}

TEST(UnwrappedDifference, FollowsTheCounterAcrossItsRange) {
  EXPECT_DOUBLE_EQ(unwrapped_difference(10, 30, 100), 20);
  EXPECT_DOUBLE_EQ(unwrapped_difference(90, 5, 100), 15);
}

/// 100 W and 300 W by turns; the samples come every 100 ms on average.
struct ResonanceCase {
  std::string name;
  double period_s;
  double tolerance;  ///< Over 20 s.
};
class ResonanceTest : public testing::TestWithParam<ResonanceCase> {};

TEST_P(ResonanceTest, OfTheLoadWithTheSamplesIsNoMatterWhereTheyAreDithered) {
  constexpr double end_s = 20;
  for (int start = 0; start < 10; ++start) {
    const double shift_s = GetParam().period_s * start / 10;
    const auto power_w = [&](double time_s) {
      return std::fmod(time_s + shift_s, GetParam().period_s) < GetParam().period_s / 2 ? 100 : 300;
    };
    WindowIntegral integral;
    Ticks ticks(Clock::time_point{}, std::chrono::milliseconds(100));
    for (double time_s = 0; time_s < end_s;) {
      integral.add(time_s, power_w(time_s));
      const auto now = Clock::time_point{} + std::chrono::nanoseconds(std::llround(time_s * 1e9));
      time_s = std::chrono::duration<double>(ticks.next(now).time_since_epoch()).count();
    }
    integral.close(end_s);
    EXPECT_NEAR(*integral.energy_until_j(end_s) / (200 * end_s), 1, GetParam().tolerance) << start;
  }
}

INSTANTIATE_TEST_SUITE_P(Energy, ResonanceTest,
                         testing::Values(ResonanceCase{"OfTheSamePeriod", 0.1, 0.03},
                                         ResonanceCase{"OfHalfThePeriod", 0.05, 0.03},
                                         ResonanceCase{"OfAThird", 0.1 / 3, 0.04},
                                         ResonanceCase{"OfTwice", 0.2, 0.05},
                                         ResonanceCase{"OfAnother", 0.0731, 0.1}),
                         [](const auto& one) { return one.param.name; });

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

struct UncertaintyCase {
  std::string name;
  Timing timing;
  double expected_j;
};
class UncertaintyTest : public testing::TestWithParam<UncertaintyCase> {};

/// 100 W to 300 W, for 100 s.
TEST_P(UncertaintyTest, MatchesTheHandComputedHalfWidth) {
  EXPECT_DOUBLE_EQ(uncertainty_of(GetParam().timing, 300, 200).half_width_j(100),
                   GetParam().expected_j);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, UncertaintyTest,
    testing::Values(
        UncertaintyCase{"ACounterInSteps", {.interval_s = 0.1, .period_s = 0.1}, 30},
        UncertaintyCase{"ACounterThatIsReadSeldom", {.interval_s = 1, .period_s = 0.001}, 150},
        UncertaintyCase{
            "ACounterThatWasReset", {.interval_s = 0.1, .period_s = 0.1, .missing_s = 2}, 630},
        // Both ends, and 200 W / sqrt(1000 samples) over 100 s.
        UncertaintyCase{"Samples",
                        {.interval_s = 0.1, .period_s = 0.1, .sample_s = 0.1},
                        30 + 632.4555320336759},
        UncertaintyCase{
            "AMeanOverASecond",
            {.interval_s = 0.1, .period_s = 0.1, .averaging_window_s = 1, .sample_s = 0.1},
            105 + 632.4555320336759},
        UncertaintyCase{"SamplesWithAGap",
                        {.interval_s = 0.1, .period_s = 0.1, .sample_s = 0.1, .missing_s = 1},
                        230 + 632.4555320336759}),
    [](const auto& test) { return test.param.name; });

TEST(Uncertainty, TheShortestRunIsKnownToFivePercent) {
  const Uncertainty uncertainty = uncertainty_of(
      {.interval_s = 0.1, .period_s = 0.1, .averaging_window_s = 1, .sample_s = 0.1}, 300, 200);
  const double shortest_s = uncertainty.shortest_run_s(250);
  EXPECT_NEAR(uncertainty.half_width_j(shortest_s), 0.05 * 250 * shortest_s, 1e-9);
}

TEST(Uncertainty, OfManyStretchesGrowsWithTheRootOfTheirNumber) {
  const Uncertainty uncertainty = uncertainty_of({.interval_s = 0.1, .period_s = 0.1}, 300, 200);
  EXPECT_DOUBLE_EQ(uncertainty.half_width_j(100, 25), 150);
}

/// What a window takes from each region has the same sign: a region is always surrounded by others.
TEST(Uncertainty, OfTheWindowGrowsWithTheNumberOfStretches) {
  const Uncertainty uncertainty =
      uncertainty_of({.averaging_window_s = 1, .sample_s = 0.1}, 300, 0);
  EXPECT_DOUBLE_EQ(uncertainty.half_width_j(100, 25), 25 * 75);
}

TEST(Uncertainty, TheShortestRunIsRoundedUpToTwoDigits) {
  const struct {
    double shortest_run_s;
    const char* text;
  } cases[] = {{2, "at least 2 s"},       {2.0001, "at least 2 s"},  {2.04, "at least 2.1 s"},
               {0.05, "at least 0.05 s"}, {121.3, "at least 130 s"}, {600, "at least 600 s"},
               {99.9, "at least 100 s"}};
  for (const auto& [shortest_run_s, text] : cases)
    EXPECT_EQ(at_least(shortest_run_s), text);
}

TEST(ChannelMeter, KnowsTheEnergyOfALongRunBetterThanThatOfAShortOne) {
  Channel channel;
  channel.counter_period_s = 0.1;
  for (const double end_s : {2.0, 200.0}) {
    ChannelMeter meter(channel, 0.1);
    for (double time_s = 0; time_s <= end_s; time_s += 0.1)
      meter.add(time_s, both(100, 100 * time_s));
    meter.close(end_s);
    const ChannelEnergy result = meter.result();
    ASSERT_TRUE(result.uncertainty);
    EXPECT_NEAR(result.uncertainty->half_width_j(end_s), 10, 0.01);
    EXPECT_NEAR(result.uncertainty->shortest_run_s(*result.power_mean_w), 2, 0.01);
  }
}

TEST(ChannelMeter, AnEstimateHasNoErrorBar) {
  Channel channel;
  channel.estimated = true;
  ChannelMeter meter(channel, 0.1);
  meter.add(0, both(100, 0));
  meter.add(10, both(100, 1000));
  meter.close(10);
  EXPECT_TRUE(meter.result().energy_j);
  EXPECT_FALSE(meter.result().uncertainty);
}

}  // namespace
}  // namespace bench::energy
