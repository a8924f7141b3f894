// What a channel says of a run that its sensor did not see all of, or not finely enough.
#include "energy/readings.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>

namespace bench::energy {
namespace {

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

}  // namespace
}  // namespace bench::energy
