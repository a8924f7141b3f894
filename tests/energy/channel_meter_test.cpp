#include <gtest/gtest.h>

#include <bench/energy/channel_meter.hpp>

namespace bench::energy {
namespace {

Reading power(double power_w) {
  return {.power_w = power_w, .energy_j = {}, .failure = ""};
}
Reading counter(double energy_j) {
  return {.power_w = {}, .energy_j = energy_j, .failure = ""};
}
Reading both(double power_w, double energy_j) {
  return {.power_w = power_w, .energy_j = energy_j, .failure = ""};
}
Reading failed(bool lost = false) {
  return {.power_w = {}, .energy_j = {}, .failure = "broken", .lost = lost};
}

TEST(ChannelMeter, PrefersTheCounterAndReportsBoth) {
  ChannelMeter meter(Channel{}, 0.1);
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

TEST(ChannelMeter, PrefersTheIntegralInRunsTooShortForTheCounter) {
  Channel channel;
  channel.counter_period_s = 0.1;
  ChannelMeter meter(channel, 0.1);
  meter.add(0, both(100, 0));
  meter.add(0.5, both(100, 90));
  meter.close(0.5);
  EXPECT_DOUBLE_EQ(*meter.result().energy_j, 50);
}

TEST(ChannelMeter, FallsBackToTheIntegralAfterACounterReset) {
  ChannelMeter meter(Channel{}, 0.1);
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
  EXPECT_EQ(meter.result().absent, "the run is too short for its counter");
}

TEST(ChannelMeter, ASingleFailureIsAGap) {
  ChannelMeter meter(Channel{}, 0.1);
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
  ChannelMeter meter(Channel{}, 0.1);
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
  EXPECT_NEAR(*meter.result().jitter_p99_s, 0.2, 0.2 * 0.06);
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

}  // namespace
}  // namespace bench::energy
