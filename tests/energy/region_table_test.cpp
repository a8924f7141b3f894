#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/report.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// A run with one channel, which shows these energies in its regions.
Measurement measurement(std::vector<RegionTime> regions, const std::vector<double>& energies_j) {
  Measurement result;
  result.regions = std::move(regions);
  result.channels.resize(1);
  result.channels[0].channel.name = "nvml:0:gpu";
  result.channels[0].channel.additive = true;
  for (const double energy_j : energies_j)
    result.channels[0].regions.push_back({energy_j, {}, energy_j});
  return result;
}

TEST(RegionTable, GivesEveryRegionItsFigures) {
  const Measurement run = measurement({{"epoch 1", 2, 10}}, {3600});
  EXPECT_THAT(region_summary(run), ElementsAre(Pair("energy_region_epoch_1_wh", "1"),
                                               Pair("power_region_epoch_1_w", "360"),
                                               Pair("duration_region_epoch_1_s", "10")));
  EXPECT_EQ(render_regions_csv(run),
            "region,count,duration_s,energy_wh,energy_uncertainty_wh,power_mean_w,"
            "energy_nvml:0:gpu_wh\n"
            "epoch 1,2,10,1,,360,1\n");
  EXPECT_THAT(region_warnings(run), IsEmpty());
}

TEST(RegionTable, TimesGoByBegin) {
  Measurement run = measurement({{"epoch", 2, 3}, {"load, first", 1, 0.5}}, {1, 1});
  run.regions[0].first_stays = {{0.25, 1.25}, {2, 4}};
  run.regions[1].first_stays = {{0.5, 1}};
  EXPECT_EQ(render_region_times_csv(run),
            "region,begin_s,end_s\n"
            "epoch,0.250000,1.250000\n"
            "\"load, first\",0.500000,1.000000\n"
            "epoch,2.000000,4.000000\n");
}

TEST(RegionTable, ARegionHasItsErrorBar) {
  Measurement run = measurement({{"epoch", 1, 10}}, {3600});
  run.channels[0].regions[0].uncertainty_j = 36;
  EXPECT_THAT(region_summary(run),
              testing::Contains(Pair("energy_region_epoch_uncertainty_wh", "0.01")));
}

TEST(RegionTable, DevicesHaveAnEnergyOfTheirOwn) {
  Measurement run = measurement({{"epoch", 1, 10}}, {3600});
  run.channels[0].channel.scope = Scope::gpu;
  run.channels.push_back(run.channels[0]);
  run.channels[1].channel.scope = Scope::package;
  EXPECT_THAT(region_summary(run),
              testing::IsSupersetOf({Pair("energy_region_epoch_wh", "2"),
                                     Pair("energy_devices_region_epoch_wh", "1")}));
  run.channels[0].regions[0] = {.absent = "its marks came late"};
  EXPECT_THAT(region_summary(run),
              testing::Not(testing::Contains(Pair("energy_devices_region_epoch_wh", testing::_))));
}

TEST(RegionTable, WhatHadNoTimeIsAbsentAndNotZero) {
  const Measurement run = measurement({{"a", 1, 0}, {"b", 1, 10}, {"c", 1, 0}}, {0, 3600, 0});
  const std::string why =
      "begin and end came in one moment (begin@NS and end@NS would tell their times)";
  EXPECT_THAT(region_summary(run),
              ElementsAre(Pair("energy_region_a_absent", why), Pair("energy_region_b_wh", "1"),
                          Pair("power_region_b_w", "360"), Pair("duration_region_b_s", "10"),
                          Pair("energy_region_c_absent", why)));
  EXPECT_EQ(render_regions_csv(run),
            "region,count,duration_s,energy_wh,energy_uncertainty_wh,power_mean_w,"
            "energy_nvml:0:gpu_wh\n"
            "a,1,,,,,\n"
            "b,1,10,1,,360,1\n"
            "c,1,,,,,\n");
  EXPECT_THAT(region_warnings(run),
              ElementsAre("2 regions have no energy: begin and end came in one moment (begin@NS "
                          "and end@NS would tell their times): 'a' ..."));
}

TEST(RegionTable, ACounterThatDidNotMoveSaysNothing) {
  const Measurement run = measurement({{"short", 1, 0.01}}, {0});
  EXPECT_THAT(region_summary(run),
              ElementsAre(Pair("energy_region_short_absent", "too short for a counter to move"),
                          Pair("duration_region_short_s", "0.01")));
  EXPECT_THAT(region_warnings(run),
              ElementsAre("1 region has no energy: too short for a counter to move: 'short'"));
}

TEST(RegionTable, WhatIsLostSaysWhy) {
  Measurement run = measurement({{"a", 1, 10}, {"b", 1, 10}}, {0, 0});
  for (RegionEnergy& energy : run.channels[0].regions)
    energy = {.absent = "its marks came late"};
  EXPECT_THAT(region_summary(run),
              ElementsAre(Pair("energy_region_a_absent", "nvml:0:gpu: its marks came late"),
                          Pair("duration_region_a_s", "10"),
                          Pair("energy_region_b_absent", "nvml:0:gpu: its marks came late"),
                          Pair("duration_region_b_s", "10")));
  EXPECT_THAT(region_warnings(run),
              ElementsAre("2 regions have no energy: nvml:0:gpu: its marks came late: 'a' ..."));
}

TEST(RegionTable, NamesThatBecomeOneAreToldApart) {
  const Measurement run = measurement({{"eval 1", 1, 10}, {"eval-1", 1, 20}}, {3600, 7200});
  EXPECT_THAT(
      region_summary(run),
      ElementsAre(Pair("energy_region_eval_1_wh", "1"), Pair("power_region_eval_1_w", "360"),
                  Pair("duration_region_eval_1_s", "10"), Pair("energy_region_eval_1_2_wh", "2"),
                  Pair("power_region_eval_1_2_w", "360"),
                  Pair("duration_region_eval_1_2_s", "20")));
  EXPECT_THAT(region_warnings(run),
              ElementsAre("regions have the same name as identifiers: 'eval-1' becomes eval_1_2"));
}

}  // namespace
}  // namespace bench::energy
