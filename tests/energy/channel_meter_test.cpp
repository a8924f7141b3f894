#include "energy/fixtures.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>

namespace bench::energy {
namespace {

TEST(ChannelMeter, PrefersTheCounterAndReportsBoth) {
  ChannelMeter meter(Channel{}, 10);
  meter.add(0, both(100, 0));
  meter.add(10, both(100, 1100));
  meter.close(10);
  const ChannelEnergy result = meter.result();
  EXPECT_DOUBLE_EQ(*result.energy_j, 1100);
  EXPECT_DOUBLE_EQ(*result.energy_counter_j, 1100);
  EXPECT_DOUBLE_EQ(*result.energy_integrated_j, 1000);
  EXPECT_NEAR(*result.difference_percent, 10, 1e-9);
  EXPECT_DOUBLE_EQ(*result.power_mean_w, 110);
  EXPECT_EQ(result.absent, "");
}

TEST(ChannelMeter, TheHighestPowerIsAtLeastTheMean) {
  ChannelMeter meter(Channel{}, 10);
  meter.add(0, both(100, 0));
  meter.add(10, both(100, 1100));
  meter.close(10);
  EXPECT_DOUBLE_EQ(*meter.result().power_min_w, 100);
  EXPECT_DOUBLE_EQ(*meter.result().power_max_w, 110);
}

TEST(ChannelMeter, PrefersTheIntegralInRunsTooShortForTheCounter) {
  Channel channel;
  channel.counter_period_s = 0.1;
  ChannelMeter meter(channel, 0.1);
  for (int k = 0; k <= 5; ++k)
    meter.add(0.1 * k, both(100, 18.0 * k));
  meter.close(0.5);
  EXPECT_DOUBLE_EQ(*meter.result().energy_j, 50);
}

/// 100 s at one reading a second: power alternates between the two, the counter runs at its rate.
ChannelEnergy alternating(double low_w, double high_w, double counter_w,
                          const Channel& channel = {}) {
  ChannelMeter meter(channel, 1);
  for (int t = 0; t <= 100; ++t)
    meter.add(t, both(t % 2 == 0 ? low_w : high_w, counter_w * t));
  meter.close(100);
  return meter.result();
}

TEST(ChannelMeter, ACounterThatDisagreesIsNotUsedAndTheResultSaysWhy) {
  const ChannelEnergy result = alternating(100, 100, 130);
  EXPECT_DOUBLE_EQ(*result.energy_j, 10000);
  EXPECT_DOUBLE_EQ(*result.energy_counter_j, 13000);
  EXPECT_EQ(result.distrust,
            "its counter differs from the integrated power by +30.0 % and is not used");
  EXPECT_EQ(result.absent, "");
}

TEST(ChannelMeter, ACounterThatAgreesWellEnoughIsUsed) {
  const ChannelEnergy result = alternating(100, 100, 119);
  EXPECT_DOUBLE_EQ(*result.energy_j, 11900);
  EXPECT_EQ(result.distrust, "");
}

TEST(ChannelMeter, WhatSamplingCanExplainIsNoReasonForDistrust) {
  // 0 or 200 W, 101 samples, gaps of 1 s: the integral may be off by 2 * (1/10.05 + 0.01) = 22 %.
  EXPECT_EQ(alternating(0, 200, 139).distrust, "");
  EXPECT_NE(alternating(0, 200, 145).distrust, "");
}

TEST(ChannelMeter, ARunTooShortForAnAveragingSensorDoesNotJudgeTheCounter) {
  Channel channel;
  channel.averaging_window_s = 11;
  EXPECT_EQ(alternating(100, 100, 150, channel).distrust, "");
  channel.averaging_window_s = 9;
  EXPECT_NE(alternating(100, 100, 150, channel).distrust, "");
}

TEST(ChannelMeter, PowerThatStopsLeavesTheEnergyToTheCounter) {
  ChannelMeter meter(Channel{}, 1);
  const auto power_fails = [](double energy_j) {
    return Reading{.power_w = {}, .energy_j = energy_j, .failure = "no permission"};
  };
  for (int t = 0; t <= 100; ++t)
    meter.add(t, t <= 10 ? both(100, 100.0 * t) : power_fails(1000 + 300.0 * (t - 10)));
  meter.cut({.region = 0, .begins = true, .time_s = 50});
  meter.cut({.region = 0, .begins = false, .time_s = 60});
  meter.close(100);
  const ChannelEnergy result = meter.result();
  EXPECT_DOUBLE_EQ(*result.energy_j, 28000);
  EXPECT_FALSE(result.energy_integrated_j) << "a tenth of the run says nothing of the rest";
  EXPECT_EQ(result.distrust, "");
  EXPECT_EQ(result.power_lost, "its power could not be read after 10 s of 100 s: no permission");
  EXPECT_DOUBLE_EQ(*result.power_max_w, 300);
  EXPECT_DOUBLE_EQ(*result.regions.at(0).energy_j, 3000);
  EXPECT_FALSE(result.regions.at(0).energy_integrated_j);
}

TEST(ChannelMeter, ALongTimeWithoutPowerIsNoReasonForDistrust) {
  ChannelMeter meter(Channel{}, 1);
  double energy_j = 0;
  for (int t = 0; t <= 100; ++t) {  // 200 W where nobody looks, 60 W or 140 W around it
    energy_j += t > 30 && t <= 70 ? 200 : 100;
    meter.add(t, t > 30 && t < 70 ? counter(energy_j) : both(t % 2 == 0 ? 60 : 140, energy_j));
  }
  meter.close(100);
  EXPECT_EQ(meter.result().distrust, "");
  EXPECT_DOUBLE_EQ(*meter.result().energy_j, 14000);
}

TEST(ChannelMeter, FallsBackToTheIntegralAfterACounterReset) {
  ChannelMeter meter(Channel{}, 1);
  meter.add(0, both(100, 500));
  meter.add(1, both(100, 7));
  meter.close(1);
  EXPECT_FALSE(meter.result().energy_counter_j);
  EXPECT_DOUBLE_EQ(*meter.result().energy_j, 100);
}

TEST(ChannelMeter, TurnsACounterIntoPowerOverAtLeastHalfTheInterval) {
  ChannelMeter meter(Channel{}, 1);
  EXPECT_FALSE(meter.add(0, counter(0)));
  EXPECT_FALSE(meter.add(0.4, counter(1000)));
  EXPECT_DOUBLE_EQ(*meter.add(1, counter(1200)), 1200);
  meter.close(1);
  EXPECT_DOUBLE_EQ(*meter.result().power_max_w, 1200);
  EXPECT_FALSE(meter.result().energy_integrated_j);
}

TEST(ChannelMeter, TakesNoMorePowerFromACounterThanThereCanBe) {
  Channel channel;
  channel.power_limit_w = 1000;
  ChannelMeter meter(channel, 1);
  meter.add(0, counter(0));
  EXPECT_DOUBLE_EQ(*meter.add(1, counter(1200)), 1000);
  meter.close(1);
  EXPECT_DOUBLE_EQ(*meter.result().energy_j, 1200);
}

TEST(ChannelMeter, ACounterThatHasNotMovedIsAbsentNotZero) {
  ChannelMeter meter(Channel{}, 0.1);
  meter.add(-0.1, counter(5));
  meter.add(0.1, counter(5));
  meter.close(0.1);
  EXPECT_FALSE(meter.result().energy_j);
  EXPECT_EQ(meter.result().absent, "its counter did not move in 0.1 s");
}

TEST(ChannelMeter, ASingleFailureIsAGap) {
  ChannelMeter meter(Channel{}, 1);
  meter.add(0, power(100));
  EXPECT_FALSE(meter.add(1, failed()));
  meter.add(3, power(100));
  meter.close(4);
  const ChannelEnergy result = meter.result();
  EXPECT_DOUBLE_EQ(*result.energy_j, 400);
  EXPECT_EQ(result.samples, 2U);
  EXPECT_EQ(result.failures, 1U);
  EXPECT_DOUBLE_EQ(result.longest_gap_s, 3);
}

TEST(ChannelMeter, TellsWhenItsFirstSampleWas) {
  ChannelMeter meter(Channel{}, 0.1);
  meter.add(-0.1, power(100));  // before the program
  meter.add(0.5, failed());
  meter.add(0.75, power(100));
  meter.add(1, power(100));
  meter.close(2);
  EXPECT_DOUBLE_EQ(*meter.result().first_sample_s, 0.75);
}

TEST(ChannelMeter, ALostDeviceHasItsPartButNoEnergyOfTheRun) {
  ChannelMeter meter(Channel{}, 0.1);
  meter.add(0, power(100));
  meter.add(2, power(100));
  meter.add(3, failed(true));
  meter.close(10);
  const ChannelEnergy result = meter.result();
  EXPECT_FALSE(result.energy_j);
  EXPECT_DOUBLE_EQ(*result.energy_integrated_j, 200);
  EXPECT_DOUBLE_EQ(*result.power_mean_w, 100);
  EXPECT_EQ(result.absent, "failed after 2 s of 10 s: broken");
}

TEST(ChannelMeter, ASensorThatKeepsFailingToTheEndIsBroken) {
  ChannelMeter meter(Channel{}, 0.1);
  meter.add(0, power(100));
  for (const double time_s : {1.0, 2.0, 3.0})
    meter.add(time_s, failed());
  meter.close(4);
  EXPECT_FALSE(meter.result().energy_j);
}

TEST(ChannelMeter, ReadingsOutsideTheRunAreNoSamples) {
  ChannelMeter meter(Channel{}, 1);
  EXPECT_FALSE(meter.add(-1, power(10)));
  meter.add(1, power(100));
  meter.close(2);
  EXPECT_FALSE(meter.add(3, power(900)));
  const ChannelEnergy result = meter.result();
  EXPECT_EQ(result.samples, 1U);
  EXPECT_DOUBLE_EQ(*result.power_max_w, 100);
  EXPECT_DOUBLE_EQ(*result.power_min_w, 100);
}

TEST(ChannelMeter, MeasuresJitterAgainstTheInterval) {
  ChannelMeter meter(Channel{}, 1);
  for (const double time_s : {-5.0, 0.5, 1.5, 2.7})  // the first is before the run
    meter.add(time_s, power(100));
  meter.close(3);
  meter.add(9, power(100));
  EXPECT_NEAR(*meter.result().jitter_p99_s, 0.2, 0.2 * 0.0625);
  EXPECT_NEAR(*meter.result().jitter_std_s, 0.1414, 0.0001);
}

TEST(ChannelMeter, MeasuresJitterAgainstWhatWasPlanned) {
  ChannelMeter meter(Channel{}, 1);
  meter.add(0.51, power(100), 0.5);
  meter.add(2.01, power(100), 2.0);
  meter.add(2.61, failed(), 2.6);  // a reading that fails has its time, too
  meter.close(3);
  EXPECT_LT(*meter.result().jitter_p99_s, 1.1e-6);
}

TEST(ChannelMeter, WithoutASampleSaysSo) {
  ChannelMeter meter(Channel{}, 0.1);
  meter.add(-1, power(10));
  meter.close(0.001);
  EXPECT_EQ(meter.result().absent, "the program ended before the first sample");
}

/// Ramps of power p(t) = 100 t, its energy, or both, read at 0, 0.4, 0.8, ... 4 s.
struct RegionCase {
  std::string name;
  Reading (*at)(double time_s);
  double averaging_window_s;
  double tolerance;
};

class RegionCutTest : public testing::TestWithParam<RegionCase> {};

TEST_P(RegionCutTest, IsExactBetweenReadings) {
  Channel channel;
  channel.averaging_window_s = GetParam().averaging_window_s;
  ChannelMeter meter(channel, 0.4);
  auto read_until = [&, k = 0](double time_s) mutable {
    for (; 0.4 * k <= time_s; ++k)
      meter.add(0.4 * k, GetParam().at(0.4 * k));
  };
  read_until(1);
  meter.cut({.region = 1, .begins = true, .time_s = 1});
  read_until(2.5);
  meter.cut({.region = 1, .begins = false, .time_s = 2.5});
  meter.cut({.region = 0, .begins = true, .time_s = 2.5});
  read_until(3.6);
  meter.cut({.region = 0, .begins = false, .time_s = 3});  // late: after the reading behind it
  meter.cut({.region = 1, .begins = true, .time_s = 3});
  meter.cut({.region = 1, .begins = false, .time_s = 4});
  read_until(4.9);
  meter.close(4);
  const auto regions = meter.result().regions;
  ASSERT_EQ(regions.size(), 2U);
  EXPECT_NEAR(*regions[0].energy_j, 50 * (9 - 6.25), GetParam().tolerance);
  EXPECT_NEAR(*regions[1].energy_j, 50 * (6.25 - 1) + 50 * (16 - 9), GetParam().tolerance);
}

Reading ramp(double time_s) {
  return power(100 * time_s);
}
/// A mean over 0.8 s of a ramp is its value 0.4 s ago.
Reading mean_of_ramp(double time_s) {
  return power(100 * std::max(0.0, time_s - 0.4));
}
Reading counter_of_ramp(double time_s) {
  return counter(7 + 50 * time_s * time_s);
}

// A counter is linear between readings, which errs by up to 100 W/s * (0.4 s)^2 / 8 at each edge.
INSTANTIATE_TEST_SUITE_P(Energy, RegionCutTest,
                         testing::Values(RegionCase{"Power", ramp, 0, 1e-9},
                                         RegionCase{"Mean", mean_of_ramp, 0.8, 1e-9},
                                         RegionCase{"Counter", counter_of_ramp, 0, 8}),
                         [](const auto& one) { return one.param.name; });

TEST(ChannelMeter, ARegionOfALostDeviceHasNoEnergy) {
  ChannelMeter meter(Channel{}, 1);
  meter.add(0, power(100));
  meter.cut({.region = 0, .begins = true, .time_s = 0});
  meter.add(1, failed(true));
  meter.cut({.region = 0, .begins = false, .time_s = 2});
  meter.close(3);
  EXPECT_FALSE(meter.result().regions.at(0).energy_j);
}

TEST(ChannelMeter, AShortRegionIsIntegratedWhereTheCounterIsCoarse) {
  Channel channel;
  channel.counter_period_s = 0.1;
  ChannelMeter meter(channel, 0.1);
  meter.cut({.region = 0, .begins = true, .time_s = 0.2});
  meter.cut({.region = 0, .begins = false, .time_s = 0.4});
  for (int k = 0; k <= 20; ++k)
    meter.add(0.1 * k, both(100, k < 3 ? 0 : 200));
  meter.close(2);
  EXPECT_NEAR(*meter.result().regions.at(0).energy_j, 20, 1e-9);
}

// What a channel says of a run that its sensor did not see all of, or not finely enough.

/// A run of `end_s` with a reading every 0.1 s, but for some time.
ChannelEnergy with_a_hole(double begin_s, double hole_end_s, double end_s, bool has_counter,
                          const Reading& in_the_hole = failed()) {
  ChannelMeter meter(Channel{}, 0.1);
  const auto readings = static_cast<int>(end_s * 10);
  for (int k = 0; k <= readings; ++k) {
    const double time_s = 0.1 * k;
    const bool blind = time_s > begin_s && time_s < hole_end_s;
    if (blind)
      meter.add(time_s, in_the_hole);
    else
      meter.add(time_s, has_counter ? both(100, 100 * time_s) : power(100));
  }
  meter.close(end_s);
  return meter.result();
}

TEST(ChannelMeter, WhatWasNotSeenOfARunIsNotMeasured) {
  const ChannelEnergy result = with_a_hole(0.35, 1.15, 1.5, false);
  EXPECT_FALSE(result.energy_j);
  EXPECT_EQ(result.absent, "it gave no reading for 0.9 s of 1.5 s: broken");
  EXPECT_DOUBLE_EQ(*result.power_mean_w, 100);
}

TEST(ChannelMeter, AHoleThatIsAtMostATwentiethOfTheRunDoesNoHarm) {
  EXPECT_TRUE(with_a_hole(5, 5.8, 20, false).energy_j);
  EXPECT_FALSE(with_a_hole(5, 6.5, 20, false).energy_j);
}

TEST(ChannelMeter, ACounterKnowsWhatWasDrawnInAHole) {
  const ChannelEnergy result = with_a_hole(0.35, 1.15, 1.5, true);
  EXPECT_NEAR(*result.energy_j, 150, 1e-9);
  EXPECT_EQ(result.absent, "");
}

TEST(ChannelMeter, ADriverThatDoesNotComeBackLeavesNoEnergy) {
  ChannelMeter meter(Channel{}, 0.1);
  for (int k = 0; k <= 4; ++k)
    meter.add(0.1 * k, both(50, 5.0 * k));
  meter.close(4);
  meter.give_up("its driver does not answer");
  const ChannelEnergy result = meter.result();
  EXPECT_FALSE(result.energy_j);
  EXPECT_EQ(result.absent, "it gave no reading for 3.6 s of 4 s: its driver does not answer");
  EXPECT_DOUBLE_EQ(*result.power_mean_w, 50);
}

TEST(ChannelMeter, ASourceThatComesUpLateHasNotSeenTheBegin) {
  ChannelMeter meter(Channel{}, 0.1);
  for (int k = 6; k <= 15; ++k)
    meter.add(0.1 * k, both(100, 10.0 * k));
  meter.close(1.5);
  EXPECT_EQ(meter.result().absent, "it gave no reading for 0.6 s of 1.5 s");
}

TEST(ChannelMeter, WhatACounterLostInAResetIsAHole) {
  ChannelMeter meter(Channel{}, 0.1);
  for (int k = 0; k <= 10; ++k)
    meter.add(0.1 * k, {.energy_j = 10.0 * k, .uncounted_s = k == 5 ? 0.1 : 0});
  meter.close(1);
  EXPECT_EQ(meter.result().absent, "it gave no reading for 0.1 s of 1 s");
}

/// 100 W by a counter that starts again after some energy, without a reading for some time.
ChannelEnergy with_a_wrapping_counter(double range_j, double silence_s, double silent_from_s = 2) {
  Channel channel;
  channel.counter_range_j = range_j;
  channel.power_limit_w = 3000;
  ChannelMeter meter(channel, 0.1);
  double sum_j = 0;
  double last_s = 0;
  for (int k = 0; k <= 80; ++k) {
    const double time_s = 0.1 * k;
    if (time_s > silent_from_s && time_s < silent_from_s + silence_s)
      continue;
    sum_j += std::fmod(100 * (time_s - last_s), range_j);
    last_s = time_s;
    meter.add(time_s, {.energy_j = sum_j});
  }
  meter.close(8);
  return meter.result();
}

TEST(ChannelMeter, ACounterThatMayHavePassedItsEndTwiceHasNoEnergy) {
  EXPECT_NEAR(with_a_wrapping_counter(150, 1).energy_j.value_or(0), 800, 1e-6);
  EXPECT_NEAR(with_a_wrapping_counter(1000, 4).energy_j.value_or(0), 800, 1e-6);
  const ChannelEnergy result = with_a_wrapping_counter(150, 4);
  EXPECT_FALSE(result.energy_j);
  EXPECT_FALSE(result.energy_counter_j);
  EXPECT_EQ(result.absent,
            "its counter starts again after 150 J, and may have done so more than once in 4 s "
            "without a reading, at up to 100 W");
}

TEST(ChannelMeter, UsesTheHighestPossiblePowerIfItSawNone) {
  EXPECT_FALSE(with_a_wrapping_counter(150, 7.95, 0).energy_j);
  EXPECT_TRUE(with_a_wrapping_counter(65536, 7.95, 0).energy_j);
}

TEST(ChannelMeter, LessThanASensorResolvesIsNoEnergy) {
  Channel channel;
  channel.update_period_s = 0.1;
  ChannelMeter meter(channel, 0.01);
  meter.add(-0.001, both(650, 1000));
  meter.add(0.001, both(650, 1000));
  meter.cut({.region = 0, .begins = true, .time_s = 0});
  meter.cut({.region = 0, .begins = false, .time_s = 0.002});
  meter.close(0.002);
  const ChannelEnergy result = meter.result();
  EXPECT_FALSE(result.energy_j || result.energy_integrated_j || result.power_mean_w);
  EXPECT_EQ(result.absent,
            "0.002 s are too short: at least 2 s, since its sensor shows a new value every 0.1 s");
  EXPECT_EQ(result.regions.at(0).absent, result.absent);
}

TEST(ChannelMeter, ACounterInStepsIsCompletedByThePowerAtBothEnds) {
  Channel channel;
  channel.counter_period_s = 0.1;
  ChannelMeter meter(channel, 0.01);
  const auto power_w = [](double time_s) { return time_s < 0 ? 50.0 : 500.0; };
  for (int k = -1; k <= 200; ++k) {  // movements at 0.06 s, 0.16 s, ...
    const double time_s = 0.01 * k;
    const double moved_s = 0.06 + 0.1 * std::floor((time_s - 0.06 + 1e-9) / 0.1);
    meter.add(time_s, both(power_w(time_s), 1000 + power_w(moved_s) * moved_s));
  }
  meter.close(2);
  EXPECT_NEAR(*meter.result().energy_counter_j / 1000, 1, 0.006);
}

TEST(ChannelMeter, AStampedValueCountsWhenItWasTaken) {
  Channel channel;
  channel.counter_period_s = 0.1;
  channel.update_period_s = 0.1;
  ChannelMeter meter(channel, 0.1);
  for (int k = 0; k <= 20; ++k) {  // readings at 0, 0.107, ... of scans at 0.03, 0.13, ...
    const double time_s = 0.107 * k;
    const double taken_s = 0.03 + 0.1 * std::floor((time_s - 0.03) / 0.1);
    meter.add(time_s, {.power_w = 700,
                       .energy_j = 1e6 + std::floor(700 * taken_s),
                       .failure = "",
                       .stamp_s = 1.7e9 + taken_s});
  }
  meter.close(2.1);
  EXPECT_NEAR(*meter.result().energy_j / (700 * 2.1), 1, 0.002);
}

TEST(ChannelMeter, AStampThatStandsStillIsNoNewReading) {
  Channel channel;
  channel.update_period_s = 0.1;
  ChannelMeter meter(channel, 0.1);
  for (int k = 0; k <= 40; ++k)
    meter.add(0.1 * k, {.power_w = 700, .energy_j = {}, .failure = "", .stamp_s = std::min(k, 10)});
  meter.close(4);
  EXPECT_EQ(meter.result().absent, "it gave no reading for 3 s of 4 s");
}

TEST(ChannelMeter, MarksThatComeTooLateSaySo) {
  ChannelMeter meter(Channel{}, 0.01, 256);
  for (int k = 0; k <= 1000; ++k)
    meter.add(0.01 * k, both(100, 1.0 * k));
  meter.cut({.region = 0, .begins = true, .time_s = 3});
  meter.cut({.region = 0, .begins = false, .time_s = 4});
  meter.close(10);
  EXPECT_EQ(meter.result().regions.at(0).absent,
            "its marks arrived after the readings around them were discarded");
  EXPECT_FALSE(meter.result().regions.at(0).energy_j);
}

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
  EXPECT_DOUBLE_EQ(coverage.missing_until_s(1.2) - coverage.missing_until_s(0.4), 0.1 + 0.5);
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

TEST(ApparentPower, IsTheMeanOverTimeAndTheHighestReading) {
  ApparentPower apparent(0, 3);
  for (const auto& [time_s, apparent_va] : {std::pair{0.0, 400.0}, {1.0, 400.0}, {2.0, 500.0}})
    apparent.add(time_s, apparent_va);
  apparent.close(2);
  EXPECT_DOUBLE_EQ(apparent.mean_va().value(), 425);
  EXPECT_DOUBLE_EQ(apparent.max_va().value(), 500);
}

TEST(ApparentPower, IsAbsentIfItWasReadableForAPartOnly) {
  ApparentPower apparent(0, 1);
  apparent.add(0, 400);
  apparent.add(1, 400);
  apparent.close(10);
  EXPECT_FALSE(apparent.mean_va());
  EXPECT_FALSE(apparent.max_va());
}

TEST(ApparentPower, IsAbsentWithoutAReading) {
  ApparentPower apparent(0, 1);
  apparent.close(10);
  EXPECT_FALSE(apparent.mean_va());
  EXPECT_FALSE(apparent.max_va());
}

}  // namespace
}  // namespace bench::energy
