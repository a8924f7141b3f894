#include <vector>

#include <gmock/gmock.h>

#include <bench/energy/program/combine.hpp>
#include <bench/energy/program/report.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;
using Summaries = std::vector<std::vector<NameValue>>;

TEST(CombineSummaries, AddsEnergiesAndPowersAndTakesTheLongestTime) {
  EXPECT_THAT(combine_summaries(Summaries{{{"energy_wh", "1.5"},
                                           {"power_mean_w", "100"},
                                           {"energy_nvml_0_gpu_wh", "1"},
                                           {"duration_s", "54"},
                                           {"duration_region_epoch_s", "30"}},
                                          {{"energy_wh", "2"},
                                           {"power_mean_w", "120.5"},
                                           {"energy_nvml_0_gpu_wh", "1.25"},
                                           {"duration_s", "60"},
                                           {"duration_region_epoch_s", "29"}}}),
              ElementsAre(NameValue{"energy_wh", "3.5"}, NameValue{"power_mean_w", "220.5"},
                          NameValue{"energy_nvml_0_gpu_wh", "2.25"}, NameValue{"duration_s", "60"},
                          NameValue{"duration_region_epoch_s", "30"}));
}

TEST(CombineSummaries, TheDevicesOfNodesAreNotAdded) {
  const Summaries nodes{{{"power_device_max_w", "310"}, {"power_device_mean_w", "200"}},
                        {{"power_device_max_w", "290"}, {"power_device_mean_w", "180"}}};
  EXPECT_THAT(combine_summaries(nodes), ElementsAre(NameValue{"power_device_max_w", "310"},
                                                    NameValue{"power_device_mean_w", "190"}));
}

TEST(CombineSummaries, WhatAllDevicesTakeIsAddedOverNodesThatKnowIt) {
  const NameValue energy{"energy_devices_wh", "1.5"};
  const NameValue power{"power_devices_mean_w", "250"};
  EXPECT_THAT(
      combine_summaries(Summaries{{energy, power}, {energy, power}}),
      ElementsAre(NameValue{"energy_devices_wh", "3"}, NameValue{"power_devices_mean_w", "500"}));
  EXPECT_THAT(combine_summaries(Summaries{{energy, power}, {{"duration_s", "1"}}}),
              ElementsAre(NameValue{"duration_s", "1"}));
}

TEST(CombineSummaries, TheDevicesOfARegionAreAddedWhereAllMetersOfTheRegionKnowThem) {
  const NameValue devices{"energy_devices_region_epoch_wh", "1.5"};
  const NameValue duration{"duration_region_epoch_s", "60"};
  EXPECT_THAT(combine_summaries(Summaries{{devices, duration}, {devices, duration}}),
              ElementsAre(NameValue{"energy_devices_region_epoch_wh", "3"}, duration));
  EXPECT_THAT(combine_summaries(Summaries{{devices, duration}, {duration}}), ElementsAre(duration));
  EXPECT_THAT(combine_summaries(Summaries{{devices, duration},
                                          {{"energy_region_epoch_absent", "late"}, duration}}),
              ElementsAre(duration, NameValue{"energy_region_epoch_absent", "late"}));
}

TEST(CombineSummaries, ThePowersOfNodesAreNotAdded) {
  const Summaries nodes{{{"power_node_mean_w", "600"}, {"power_node_apparent_max_va", "640"}},
                        {{"power_node_mean_w", "590"}, {"power_node_apparent_max_va", "650"}}};
  EXPECT_THAT(combine_summaries(nodes),
              ElementsAre(NameValue{"power_node_mean_w", "595"},
                          NameValue{"power_node_apparent_max_va", "650"}));
}

TEST(CombineSummaries, OneAfterTheOtherAddsTimesAndTakesTheMeanOfPowers) {
  EXPECT_THAT(combine_summaries(Summaries{{{"energy_wh", "1"},
                                           {"power_mean_w", "100"},
                                           {"power_max_w", "150"},
                                           {"power_idle_w", "40"},
                                           {"duration_s", "36"},
                                           {"power_region_epoch_w", "120"},
                                           {"duration_region_epoch_s", "10"}},
                                          {{"energy_wh", "6"},
                                           {"power_mean_w", "200"},
                                           {"power_max_w", "210"},
                                           {"power_idle_w", "44"},
                                           {"duration_s", "108"},
                                           {"power_region_epoch_w", "180"},
                                           {"duration_region_epoch_s", "50"},
                                           {"power_region_evaluation_w", "90"},
                                           {"duration_region_evaluation_s", "5"}}},
                                Course::in_sequence),
              ElementsAre(NameValue{"energy_wh", "7"}, NameValue{"power_mean_w", "175"},
                          NameValue{"power_max_w", "210"}, NameValue{"power_idle_w", "43"},
                          NameValue{"duration_s", "144"}, NameValue{"power_region_epoch_w", "170"},
                          NameValue{"duration_region_epoch_s", "60"},
                          NameValue{"power_region_evaluation_w", "90"},
                          NameValue{"duration_region_evaluation_s", "5"}));
}

TEST(CombineSummaries, OneAfterTheOtherHasNoTotalWhereOneHasNone) {
  EXPECT_THAT(combine_summaries(
                  Summaries{{{"energy_wh", "1"}, {"power_mean_w", "100"}, {"duration_s", "36"}},
                            {{"duration_s", "4"}, {"energy_absent", "no sensor"}}},
                  Course::in_sequence),
              ElementsAre(NameValue{"duration_s", "40"}, NameValue{"energy_absent", "no sensor"}));
}

TEST(CombineSummaries, OfTheMachinesTellsTheWorst) {
  EXPECT_THAT(
      combine_summaries(Summaries{{{"machine_load", "0.5"},
                                   {"machine_gpu_clock_min_mhz", "1410"},
                                   {"machine_gpu_temperature_max_c", "60"},
                                   {"machine_governor", "performance"}},
                                  {{"machine_load", "3"},
                                   {"machine_gpu_clock_min_mhz", "1200"},
                                   {"machine_gpu_temperature_max_c", "83"},
                                   {"machine_governor", "performance"},
                                   {"machine_disturbance", "too warm"}}}),
      ElementsAre(NameValue{"machine_load", "3"}, NameValue{"machine_gpu_clock_min_mhz", "1200"},
                  NameValue{"machine_gpu_temperature_max_c", "83"},
                  NameValue{"machine_governor", "performance"},
                  NameValue{"machine_disturbance", "too warm"}));
}

TEST(CombineSummaries, AreTooShortOnlyIfAllOfTheEnergyIsKnownBadly) {
  const auto of = [](const char* energy_wh) {
    return combine_summaries(Summaries{{{"energy_wh", energy_wh}, {"energy_uncertainty_wh", "0.1"}},
                                       {{"energy_wh", "1"},
                                        {"energy_uncertainty_wh", "0.1"},
                                        {"energy_too_short", "at least 2 s"}}});
  };
  EXPECT_THAT(of("2"),
              ElementsAre(NameValue{"energy_wh", "3"}, NameValue{"energy_uncertainty_wh", "0.2"},
                          NameValue{"energy_too_short", "at least 2 s"}));
  EXPECT_THAT(of("4"),
              ElementsAre(NameValue{"energy_wh", "5"}, NameValue{"energy_uncertainty_wh", "0.2"}));
}

TEST(CombineSummaries, HasNoErrorBarWhereOneEnergyIsAnEstimate) {
  EXPECT_THAT(combine_summaries(Summaries{
                  {{"energy_region_a_wh", "1"}, {"energy_region_a_uncertainty_wh", "0.1"}},
                  {{"energy_region_a_wh", "2"}}}),
              ElementsAre(NameValue{"energy_region_a_wh", "3"}));
}

TEST(CombineSummaries, NamesAllSourcesAndTheWorstQuality) {
  EXPECT_THAT(combine_summaries(
                  Summaries{{{"energy_source", "rapl,nvml"}, {"energy_quality", "measured"}},
                            {{"energy_source", "nvml,model"}, {"energy_quality", "estimated"}}}),
              ElementsAre(NameValue{"energy_source", "rapl,nvml,model"},
                          NameValue{"energy_quality", "estimated"}));
}

TEST(CombineSummaries, OneThatWasRecoveredMakesTheWholeRecovered) {
  EXPECT_THAT(
      combine_summaries(Summaries{{{"energy_quality", "measured"}},
                                  {{"energy_quality", "recovered"}, {"energy_recovered", "killed"}},
                                  {{"energy_quality", "recovered"}, {"energy_recovered", "too"}}}),
      ElementsAre(NameValue{"energy_quality", "recovered"},
                  NameValue{"energy_recovered", "killed; too"}));
}

TEST(CombineSummaries, HasNoTotalWhereOneHasNone) {
  EXPECT_THAT(
      combine_summaries(Summaries{{{"energy_wh", "1"}, {"energy_quality", "measured"}},
                                  {{"energy_quality", "none"}, {"energy_absent", "no sensor"}}}),
      ElementsAre(NameValue{"energy_quality", "none"}, NameValue{"energy_absent", "no sensor"}));
}

TEST(CombineSummaries, ARegionThatOneMeterDoesNotKnowHasNoEnergy) {
  EXPECT_THAT(
      combine_summaries(Summaries{
          {{"energy_region_a_wh", "1"}, {"power_region_a_w", "100"}, {"duration_region_a_s", "30"}},
          {{"energy_region_a_absent", "its marks came late"}, {"duration_region_a_s", "29"}}}),
      ElementsAre(NameValue{"duration_region_a_s", "30"},
                  NameValue{"energy_region_a_absent", "its marks came late"}));
}

/// The whole run of the other meter has no energy, which tells the reason of the region, too.
TEST(CombineSummaries, ARegionHasNoEnergyWhereOneOfItsMetersHasNone) {
  const Summaries meters{{{"energy_region_a_wh", "1"},
                          {"energy_region_a_uncertainty_wh", "0.1"},
                          {"power_region_a_w", "100"},
                          {"duration_region_a_s", "30"}},
                         {{"duration_region_a_s", "20"}, {"energy_absent", "no sensor"}}};
  EXPECT_THAT(combine_summaries(meters), ElementsAre(NameValue{"duration_region_a_s", "30"},
                                                     NameValue{"energy_absent", "no sensor"}));
  EXPECT_THAT(
      combine_summaries(meters, Course::in_sequence),
      ElementsAre(NameValue{"duration_region_a_s", "50"}, NameValue{"energy_absent", "no sensor"}));
}

TEST(CombineSummaries, ARegionOfSomeMetersHasTheEnergyOfThose) {
  EXPECT_THAT(
      combine_summaries(Summaries{{{"energy_region_a_wh", "1"}, {"duration_region_a_s", "30"}},
                                  {{"energy_absent", "no sensor"}}}),
      ElementsAre(NameValue{"energy_region_a_wh", "1"}, NameValue{"duration_region_a_s", "30"},
                  NameValue{"energy_absent", "no sensor"}));
}

TEST(CombineSummaries, OneAfterTheOtherAChannelHasNoEnergyThatOneHasLost) {
  const NameValue total{"energy_wh", "2"};
  const NameValue channel{"energy_mock_lost_wh", "2"};
  const NameValue error_bar{"energy_mock_lost_uncertainty_wh", "0.1"};
  EXPECT_THAT(combine_summaries(
                  Summaries{{total, channel, error_bar}, {{"energy_absent", "mock:lost: failed"}}},
                  Course::in_sequence),
              ElementsAre(NameValue{"energy_absent", "mock:lost: failed"}));
}

TEST(CombineSummaries, OfNodesAChannelHasNoEnergyThatOneHasLost) {
  const std::vector<NameValue> complete{{"energy_wh", "2"}, {"energy_nvml_0_gpu_wh", "2"}};
  EXPECT_THAT(combine_summaries(Summaries{complete, {{"energy_absent", "nvml:0:gpu: failed"}}}),
              ElementsAre(NameValue{"energy_absent", "nvml:0:gpu: failed"}));
  EXPECT_THAT(combine_summaries(Summaries{complete, {{"energy_wh", "3"}}}),
              ElementsAre(NameValue{"energy_wh", "5"}, NameValue{"energy_nvml_0_gpu_wh", "2"}));
}

TEST(CombineSummaries, OneAfterTheOtherEachMayHaveChannelsOfItsOwn) {
  EXPECT_THAT(combine_summaries(Summaries{{{"energy_wh", "2"}, {"energy_nvml_0_gpu_wh", "2"}},
                                          {{"energy_wh", "3"}, {"energy_nvml_1_gpu_wh", "3"}}},
                                Course::in_sequence),
              ElementsAre(NameValue{"energy_wh", "5"}, NameValue{"energy_nvml_0_gpu_wh", "2"},
                          NameValue{"energy_nvml_1_gpu_wh", "3"}));
}

}  // namespace
}  // namespace bench::energy
