#include <cmath>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/measurement.hpp>

namespace bench::energy {
namespace {

Channel channel(Scope scope, double window_s = 0) {
  Channel result;
  result.name = "nvml:0:" + std::string(name_of(scope));
  result.scope = scope;
  result.device = 0;
  result.averaging_window_s = window_s;
  return result;
}

/// 10 s of a power, and where it has one of a counter that runs at another.
ChannelMeter meter_of(const Channel& channel, double power_w, double counter_w = 0) {
  ChannelMeter meter(channel, 0.1);
  for (int k = 0; k <= 100; ++k)
    meter.add(0.1 * k,
              {.power_w = power_w,
               .energy_j = counter_w > 0 ? std::optional(counter_w * 0.1 * k) : std::nullopt,
               .failure = ""});
  meter.close(10);
  return meter;
}

std::vector<ChannelEnergy> results(const std::vector<ChannelMeter>& meters) {
  std::vector<const ChannelMeter*> all;
  for (const ChannelMeter& meter : meters)
    all.push_back(&meter);
  return results_of(all);
}

/// Snapshots show 100 W and miss spikes, the counter 150 W.
TEST(Verdict, TheMeanOverASecondDecidesForTheCounter) {
  const auto found = results(
      {meter_of(channel(Scope::gpu), 100, 150), meter_of(channel(Scope::gpu_average, 1), 148)});
  EXPECT_NEAR(*found[0].energy_j, 1500, 1e-6);
  EXPECT_EQ(found[0].distrust, "");
  EXPECT_EQ(found[0].missed_spikes,
            "its samples miss spikes: the mean over 1 s agrees with its counter, not with them");
}

TEST(Verdict, TheMeanOverASecondDecidesAgainstTheCounter) {
  const auto found = results(
      {meter_of(channel(Scope::gpu), 100, 150), meter_of(channel(Scope::gpu_average, 1), 102)});
  EXPECT_NEAR(*found[0].energy_j, 1000, 1e-6);
  EXPECT_NE(found[0].distrust, "");
}

TEST(Verdict, TheMeanOfAnotherDeviceDecidesNothing) {
  Channel other = channel(Scope::gpu_average, 1);
  other.device = 1;
  const auto found = results({meter_of(channel(Scope::gpu), 100, 150), meter_of(other, 150)});
  EXPECT_NEAR(*found[0].energy_j, 1000, 1e-6);
}

Channel of_superchip(Scope scope) {
  Channel result = channel(scope);
  result.counter_of_either = true;
  return result;
}

TEST(Verdict, ACounterBelongsToWhatItCounts) {
  const auto module = results({meter_of(of_superchip(Scope::gpu), 500, 575),
                               meter_of(of_superchip(Scope::gpu_module), 580, 575)});
  EXPECT_FALSE(module[0].energy_counter_j);
  EXPECT_NEAR(*module[0].energy_j, 5000, 1e-6);
  EXPECT_LE(*module[0].power_mean_w, *module[0].power_max_w + 1e-9);
  EXPECT_EQ(module[0].distrust, "its counter counts the whole module and is not used");
  EXPECT_NEAR(*module[1].energy_j, 5750, 1e-6);
  const auto gpu = results({meter_of(of_superchip(Scope::gpu), 500, 505),
                            meter_of(of_superchip(Scope::gpu_module), 580, 505)});
  EXPECT_NEAR(*gpu[0].energy_j, 5050, 1e-6);
  EXPECT_NEAR(*gpu[1].energy_j, 5800, 1e-6);
  EXPECT_FALSE(gpu[1].energy_counter_j);
}

TEST(Verdict, WithoutThePowerOfTheModuleTheCounterMustFitTheGpu) {
  EXPECT_FALSE(results({meter_of(of_superchip(Scope::gpu), 500, 575)})[0].energy_counter_j);
  EXPECT_TRUE(results({meter_of(of_superchip(Scope::gpu), 500, 515)})[0].energy_counter_j);
  EXPECT_TRUE(results({meter_of(channel(Scope::gpu), 500, 575)})[0].energy_counter_j);
}

}  // namespace
}  // namespace bench::energy
