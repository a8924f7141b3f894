#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/integrate.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/report.hpp>
#include <bench/energy/sources/methods.hpp>

namespace bench::energy {
namespace {

using testing::_;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::Pair;

ChannelEnergy channel_energy(const std::string& name, std::optional<double> energy_j) {
  ChannelEnergy result;
  result.channel.name = name;
  result.channel.additive = true;
  result.energy_j = energy_j;
  result.energy_integrated_j = energy_j;
  result.samples = 3;
  return result;
}

Measurement measurement(std::vector<ChannelEnergy> channels) {
  Measurement result;
  result.duration_s = 10;
  result.channels = std::move(channels);
  return result;
}

/// The lines as files show them.
std::vector<std::pair<std::string, std::string>> shown(const Summary& found) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const NameValue& line : found)
    lines.emplace_back(line.first, text_of(line));
  return lines;
}

TEST(Report, AddsTheAdditiveChannels) {
  Measurement run =
      measurement({channel_energy("nvml:0:gpu", 3600), channel_energy("rapl:package-0", 1800),
                   channel_energy("rapl:package-0:core", 900)});
  run.channels[2].channel.additive = false;
  run.total_power.max_w = 700;
  EXPECT_THAT(
      shown(summary(run)),
      ElementsAre(Pair("energy_wh", "1.5"), Pair("power_mean_w", "540"), Pair("power_max_w", "700"),
                  Pair("energy_nvml_0_gpu_wh", "1"), Pair("energy_rapl_package_0_wh", "0.5"),
                  Pair("energy_rapl_package_0_core_wh", "0.25"), Pair("duration_s", "10"),
                  Pair("energy_source", "nvml,rapl"), Pair("energy_quality", "measured"),
                  Pair("energy_nodes", "0"), Pair("energy_gap_s", "0"), Pair("energy_level", "0"),
                  Pair("energy_level_limit", "subsystems: the nodes are not measured as a whole")));
  run.total_power = {300, 500};  // the counters show more than the samples
  EXPECT_THAT(shown(summary(run)), Contains(Pair("power_max_w", "540")));
}

TEST(Report, TellsThePowerOfOneDeviceAndWhatAllTake) {
  Measurement run =
      measurement({channel_energy("nvml:0:gpu", 3600), channel_energy("nvml:1:gpu", 1800),
                   channel_energy("rapl:package-0", 1800)});
  for (const std::size_t gpu : {0U, 1U}) {
    ChannelEnergy& channel = run.channels[gpu];
    channel.channel.scope = Scope::gpu;
    channel.power_mean_w = 100 + 50 * static_cast<double>(gpu);
    channel.power_max_w = 400 - 50 * static_cast<double>(gpu);
  }
  run.channels[2].power_mean_w = run.channels[2].power_max_w = 999;
  EXPECT_THAT(shown(summary(run)), IsSupersetOf({Pair("power_device_max_w", "400"),
                                                 Pair("power_device_mean_w", "125")}));
  EXPECT_THAT(shown(summary(run)),
              IsSupersetOf({Pair("energy_devices_wh", "1.5"), Pair("power_devices_mean_w", "250"),
                            Pair("power_devices_max_w", "750")}));
  run.channels[0].energy_counter_j = 3600;
  run.channels[0].energy_integrated_j = 3240;
  run.channels[1].energy_integrated_j = 1800;
  EXPECT_THAT(shown(summary(run)), Contains(Pair("energy_devices_integrated_wh", "1.4")));
  EXPECT_THAT(shown(summary(run)), Not(Contains(Pair("energy_devices_counter_wh", _))));
  run.channels[1].energy_counter_j = 1800;
  EXPECT_THAT(shown(summary(run)), Contains(Pair("energy_devices_counter_wh", "1.5")));
  run.channels[1].power_max_w.reset();
  EXPECT_THAT(shown(summary(run)), Not(Contains(Pair("power_device_max_w", _))));
  EXPECT_THAT(shown(summary(run)), Contains(Pair("power_devices_mean_w", "250")));
  run.channels[1].energy_j.reset();
  EXPECT_THAT(shown(summary(run)), Not(Contains(Pair("energy_devices_wh", _))));
}

TEST(Report, TellsThePowerOfTheNode) {
  Measurement run =
      measurement({channel_energy("nvml:0:gpu", 3600), channel_energy("command:pdu", 7200)});
  ChannelEnergy& node = run.channels[1];
  node.channel.scope = Scope::node_meter;
  node.power_mean_w = 400;
  node.power_max_w = 500;
  node.apparent_mean_va = 420;
  node.apparent_max_va = 530;
  EXPECT_THAT(shown(summary(run)),
              IsSupersetOf({Pair("power_node_mean_w", "400"), Pair("power_node_max_w", "500"),
                            Pair("power_node_apparent_mean_va", "420"),
                            Pair("power_node_apparent_max_va", "530")}));
  node.apparent_mean_va.reset();  // most meters do not know it
  EXPECT_THAT(shown(summary(run)), Not(Contains(Pair("power_node_apparent_mean_va", _))));
  node.energy_j.reset();
  EXPECT_THAT(shown(summary(run)), Not(Contains(Pair("power_node_mean_w", _))));
}

TEST(Report, OneEstimateMakesTheTotalAnEstimate) {
  Measurement run = measurement({channel_energy("nvml:0:gpu", 1), channel_energy("model:cpu", 1)});
  run.channels[1].channel.estimated = true;
  EXPECT_EQ(total_of(run).quality, "estimated");
}

TEST(Report, SaysThatItWasRecovered) {
  Measurement run = measurement({channel_energy("nvml:0:gpu", 3600)});
  run.recovered = "the meter was killed";
  run.warnings = {"another"};
  EXPECT_THAT(shown(summary(run)),
              IsSupersetOf({Pair("energy_wh", "1"), Pair("duration_s", "10"),
                            Pair("energy_quality", "recovered"),
                            Pair("energy_recovered", "the meter was killed")}));
  EXPECT_THAT(warnings(run), ElementsAre("the meter was killed", "another"));
  run.channels[0].channel.estimated = true;
  EXPECT_EQ(total_of(run).quality, "estimated");
}

TEST(Report, ARecoveryWithoutASampleHasNoDuration) {
  Measurement run;
  run.recovered = "the meter was killed before the first sample";
  EXPECT_THAT(shown(summary(run)),
              ElementsAre(Pair("energy_quality", "none"), Pair("energy_recovered", run.recovered)));
}

TEST(Report, NothingMeasuredIsAbsentWithEveryReason) {
  Measurement run = measurement({});
  run.absences = {{"rapl", "not here"}, {"nvml", "no driver"}};
  EXPECT_THAT(shown(summary(run)),
              ElementsAre(Pair("duration_s", "10"), Pair("energy_quality", "none"),
                          Pair("energy_absent", "rapl: not here; nvml: no driver")));
}

TEST(Report, ALostDeviceLeavesNoTotal) {
  Measurement run =
      measurement({channel_energy("nvml:0:gpu", 3600), channel_energy("nvml:1:gpu", {})});
  run.channels[1].absent = "failed after 2 s of 10 s: GPU is lost";
  EXPECT_THAT(
      shown(summary(run)),
      ElementsAre(Pair("energy_nvml_0_gpu_wh", "1"), Pair("duration_s", "10"),
                  Pair("energy_source", "nvml"), Pair("energy_quality", "partial"),
                  Pair("energy_absent", "nvml:1:gpu: failed after 2 s of 10 s: GPU is lost")));
  EXPECT_THAT(warnings(run), ElementsAre("nvml:1:gpu: failed after 2 s of 10 s: GPU is lost"));
}

TEST(Report, TellsTheEnergyBeyondIdleWhereABaselineWasMeasured) {
  Measurement run =
      measurement({channel_energy("nvml:0:gpu", 3600), channel_energy("rapl:package-0", 1800)});
  run.channels[0].power_idle_w = 60;
  EXPECT_FALSE(total_of(run).power_idle_w);  // that of a part would pass for the whole
  run.channels[1].power_idle_w = 30;
  EXPECT_THAT(shown(summary(run)),
              IsSupersetOf({Pair("power_idle_w", "90"), Pair("energy_net_wh", "1.25")}));
}

TEST(Report, EveryEnergyHasItsErrorBar) {
  Measurement run =
      measurement({channel_energy("nvml:0:gpu", 3600), channel_energy("rapl:package-0", 1800)});
  run.channels[0].uncertainty = Uncertainty{.ends_j = 36};
  EXPECT_FALSE(total_of(run).uncertainty_j);  // that of a part would pass for the whole
  run.channels[1].uncertainty = Uncertainty{.ends_j = 18};
  EXPECT_THAT(shown(summary(run)),
              IsSupersetOf({Pair("energy_uncertainty_wh", "0.015"),
                            Pair("energy_nvml_0_gpu_uncertainty_wh", "0.01"),
                            Pair("energy_rapl_package_0_uncertainty_wh", "0.005")}));
  EXPECT_THAT(warnings(run), ElementsAre());
}

TEST(Report, AShortRunSaysHowLongItMustBe) {
  Measurement run = measurement({channel_energy("nvml:0:gpu", 1000)});
  run.channels[0].uncertainty = Uncertainty{.ends_j = 100};  // 10 % of 100 W for 10 s
  EXPECT_THAT(
      shown(summary(run)),
      testing::Contains(Pair("energy_too_short", "for an energy within 5 %: at least 20 s")));
  EXPECT_THAT(warnings(run), ElementsAre("too short for an energy within 5 %: at least 20 s"));
}

TEST(Report, AMeterOfTheNodeLeavesTheMachineFractionAsTheLimit) {
  Measurement run = measurement({channel_energy("pm_counters:node", 36000)});
  run.channels[0].channel.scope = Scope::node;
  run.channels[0].longest_gap_s = 0.25;
  EXPECT_THAT(shown(summary(run)),
              IsSupersetOf({Pair("energy_nodes", "1"), Pair("energy_gap_s", "0.25"),
                            Pair("energy_level", "0"),
                            Pair("energy_level_limit",
                                 "machine fraction: 3.6 kW on 1 node, and level 1 needs 2 kW, 15 "
                                 "nodes and a tenth of the machine, or all of it")}));
}

TEST(Report, WarnsWhereCounterAndIntegralDisagreeInALongRun) {
  Measurement run = measurement({channel_energy("nvml:0:gpu", 100)});
  run.channels[0].difference_percent = -12.34;
  EXPECT_THAT(warnings(run),
              ElementsAre("nvml:0:gpu: the counter differs from the integrated power by -12.3 %"));
  run.duration_s = 1;
  EXPECT_THAT(warnings(run), ElementsAre());
}

TEST(Report, SaysOnceThatACounterWasNotUsed) {
  Measurement run = measurement({channel_energy("rocm:0:gpu", 100)});
  run.channels[0].difference_percent = 70;
  run.channels[0].distrust = "its counter is wrong";
  EXPECT_THAT(warnings(run), ElementsAre("rocm:0:gpu: its counter is wrong"));
}

TEST(Report, ListsWhatIsThereAndWhyTheRestIsNot) {
  Sources sources;
  sources.channels.resize(1);
  sources.channels[0].name = "rapl:package-0";
  sources.channels[0].additive = true;
  sources.channels[0].description = "a package";
  sources.absences = {{"nvml", "no driver"}};
  sources.notes = {"rapl:1 is unreadable"};
  EXPECT_EQ(source_table(sources),
            "channel         added  part of  what\n"
            "rapl:package-0  yes    -        a package\n"
            "absent: nvml: no driver\n"
            "note: rapl:1 is unreadable\n");
}

TEST(MachineSummary, HasWhatIsKnown) {
  MachineState machine;
  machine.gpu = GpuState{.reads = 4, .throttled = {{"power_cap", 3}}};
  machine.cpu.load = 0.42;
  machine.cpu.temperature_c.add(40);
  machine.cpu.temperature_c.add(61.5);
  machine.gpu->clock_mhz.add(1980);
  machine.gpu->clock_mhz.add(1200);
  EXPECT_THAT(
      shown(machine_summary(machine)),
      ElementsAre(Pair("machine_load", "0.42"), Pair("machine_cpu_temperature_start_c", "40"),
                  Pair("machine_cpu_temperature_max_c", "61.5"),
                  Pair("machine_gpu_clock_mhz", "1590"), Pair("machine_gpu_clock_min_mhz", "1200"),
                  Pair("machine_gpu_throttle", "power_cap 75 %")));
}

TEST(MachineSummary, OfAnUnknownMachineIsEmpty) {
  EXPECT_THAT(shown(machine_summary({})), ElementsAre());
}

/// A run with one channel, which shows these energies in its regions.
Measurement run_with_regions(std::vector<RegionTime> regions,
                             const std::vector<double>& energies_j) {
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
  const Measurement run = run_with_regions({{"epoch 1", 2, 10}}, {3600});
  EXPECT_THAT(shown(region_summary(run)), ElementsAre(Pair("energy_region_epoch_1_wh", "1"),
                                                      Pair("power_region_epoch_1_w", "360"),
                                                      Pair("duration_region_epoch_1_s", "10")));
  EXPECT_EQ(render_regions_csv(run),
            "region,count,duration_s,energy_wh,energy_uncertainty_wh,power_mean_w,"
            "energy_nvml:0:gpu_wh\n"
            "epoch 1,2,10,1,,360,1\n");
  EXPECT_THAT(region_warnings(run), IsEmpty());
}

TEST(RegionTable, TimesGoByBegin) {
  Measurement run = run_with_regions({{"epoch", 2, 3}, {"load, first", 1, 0.5}}, {1, 1});
  run.regions[0].first_stays = {{0.25, 1.25}, {2, 4}};
  run.regions[1].first_stays = {{0.5, 1}};
  EXPECT_EQ(render_region_times_csv(run),
            "region,begin_s,end_s\n"
            "epoch,0.250000,1.250000\n"
            "\"load, first\",0.500000,1.000000\n"
            "epoch,2.000000,4.000000\n");
}

TEST(RegionTable, ARegionHasItsErrorBar) {
  Measurement run = run_with_regions({{"epoch", 1, 10}}, {3600});
  run.channels[0].regions[0].uncertainty_j = 36;
  EXPECT_THAT(shown(region_summary(run)),
              Contains(Pair("energy_region_epoch_uncertainty_wh", "0.01")));
  run.channels.push_back(run.channels[0]);
  run.channels[1].regions[0].uncertainty_j.reset();  // that of a part would pass for the whole
  EXPECT_THAT(shown(region_summary(run)),
              Not(Contains(Pair("energy_region_epoch_uncertainty_wh", _))));
}

TEST(RegionTable, DevicesHaveAnEnergyOfTheirOwn) {
  Measurement run = run_with_regions({{"epoch", 1, 10}}, {3600});
  run.channels[0].channel.scope = Scope::gpu;
  run.channels.push_back(run.channels[0]);
  run.channels[1].channel.scope = Scope::package;
  EXPECT_THAT(shown(region_summary(run)),
              IsSupersetOf({Pair("energy_region_epoch_wh", "2"),
                            Pair("energy_devices_region_epoch_wh", "1")}));
  run.channels[0].regions[0] = {.absent = "its marks came late"};
  EXPECT_THAT(shown(region_summary(run)), Not(Contains(Pair("energy_devices_region_epoch_wh", _))));
}

TEST(RegionTable, WhatHadNoTimeIsAbsentAndNotZero) {
  const Measurement run = run_with_regions({{"a", 1, 0}, {"b", 1, 10}, {"c", 1, 0}}, {0, 3600, 0});
  const std::string why =
      "begin and end came in one moment (begin@NS and end@NS would tell their times)";
  EXPECT_THAT(shown(region_summary(run)),
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
  const Measurement run = run_with_regions({{"short", 1, 0.01}}, {0});
  EXPECT_THAT(shown(region_summary(run)),
              ElementsAre(Pair("energy_region_short_absent", "too short for a counter to move"),
                          Pair("duration_region_short_s", "0.01")));
  EXPECT_THAT(region_warnings(run),
              ElementsAre("1 region has no energy: too short for a counter to move: 'short'"));
}

TEST(RegionTable, WhatIsLostSaysWhy) {
  Measurement run = run_with_regions({{"a", 1, 10}, {"b", 1, 10}}, {0, 0});
  for (RegionEnergy& energy : run.channels[0].regions)
    energy = {.absent = "its marks came late"};
  EXPECT_THAT(shown(region_summary(run)),
              ElementsAre(Pair("energy_region_a_absent", "nvml:0:gpu: its marks came late"),
                          Pair("duration_region_a_s", "10"),
                          Pair("energy_region_b_absent", "nvml:0:gpu: its marks came late"),
                          Pair("duration_region_b_s", "10")));
  EXPECT_THAT(region_warnings(run),
              ElementsAre("2 regions have no energy: nvml:0:gpu: its marks came late: 'a' ..."));
}

TEST(RegionTable, NamesThatBecomeOneAreToldApart) {
  const Measurement run = run_with_regions({{"eval 1", 1, 10}, {"eval-1", 1, 20}}, {3600, 7200});
  EXPECT_THAT(
      shown(region_summary(run)),
      ElementsAre(Pair("energy_region_eval_1_wh", "1"), Pair("power_region_eval_1_w", "360"),
                  Pair("duration_region_eval_1_s", "10"), Pair("energy_region_eval_1_2_wh", "2"),
                  Pair("power_region_eval_1_2_w", "360"),
                  Pair("duration_region_eval_1_2_s", "20")));
  EXPECT_THAT(region_warnings(run),
              ElementsAre("regions have the same name as identifiers: 'eval-1' becomes eval_1_2"));
}

struct MethodologyCase {
  std::string name;
  Measured measured;
  int level;
  std::string aspect;
};
class MethodologyTest : public testing::TestWithParam<MethodologyCase> {};

TEST_P(MethodologyTest, TheWorstAspectDecides) {
  EXPECT_THAT(
      shown(methodology_summary(GetParam().measured)),
      ElementsAre(testing::_, testing::_, Pair("energy_level", std::to_string(GetParam().level)),
                  Pair("energy_level_limit", HasSubstr(GetParam().aspect))));
}

INSTANTIATE_TEST_SUITE_P(
    Energy, MethodologyTest,
    testing::Values(MethodologyCase{"GpusAlone",
                                    {.parts = true, .power_mean_w = 3000},
                                    0,
                                    "subsystems: the nodes are not measured as a whole"},
                    MethodologyCase{"GpusBesideNodes",
                                    {.nodes = 16, .parts = true, .power_mean_w = 9000},
                                    0,
                                    "subsystems: the nodes are not measured as a whole"},
                    MethodologyCase{"ASlowMeter",
                                    {.nodes = 16, .power_mean_w = 9000, .longest_gap_s = 5},
                                    0,
                                    "granularity: 5 s without a value"},
                    MethodologyCase{"OneNode",
                                    {.nodes = 1, .power_mean_w = 2500, .longest_gap_s = 0.2},
                                    0,
                                    "machine fraction: 2.5 kW on 1 node,"},
                    MethodologyCase{"LittlePower",
                                    {.nodes = 16, .power_mean_w = 1900, .longest_gap_s = 0.2},
                                    0,
                                    "machine fraction: 1.9 kW on 16 nodes,"},
                    MethodologyCase{"ManyNodes",
                                    {.nodes = 15, .power_mean_w = 9000, .longest_gap_s = 0.2},
                                    1,
                                    "level 1 if this is a tenth of the machine"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bench::energy
