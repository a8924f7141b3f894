#include "results/work_directory.hpp"
#include "support/case_name.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <bench/base/value.hpp>
#include <bench/results/group.hpp>

namespace bench::results {
namespace {

using enum ValueType;

class EnergyFileTest : public WorkDirectory {
 protected:
  /// The meter's summary of one more workpackage.
  void measured(const std::string& summary) {
    group_.files.push_back({write(next_directory() + "/energy.txt", summary), {}});
  }
  void unmeasured() { group_.files.push_back({directory_ / next_directory() / "energy.txt", {}}); }

 private:
  std::string next_directory() { return "w" + std::to_string(group_.files.size()); }
};

const std::string wrote_nothing =
    "the meter wrote no result (if it was killed, `bench-energy recover DIR` makes energy.txt from "
    "the "
    "samples in the work directory)";

constexpr const char* summary = R"(energy_wh=0.5
power_mean_w=300
power_max_w=410.5
energy_nvml:0_wh=0.25
duration_s=6
samples=61
energy_source=nvml,rapl
energy_quality=measured
)";

TEST_F(EnergyFileTest, EachNameBecomesAFindingWithItsUnit) {
  measured(summary);
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "energy_wh"), "0.5");
  EXPECT_EQ(all.find("energy_wh")->second.unit, "Wh");
  EXPECT_FALSE(all.find("energy_wh")->second.estimated);
  EXPECT_EQ(shown(all, "power_mean_w_avg"), "300.0");
  EXPECT_EQ(all.find("power_mean_w_avg")->second.unit, "W");
  EXPECT_EQ(shown(all, "energy_nvml:0_wh"), "0.25");
  EXPECT_EQ(shown(all, "duration_s"), "6.0");
  EXPECT_EQ(all.find("duration_s")->second.unit, "s");
  EXPECT_EQ(shown(all, "samples"), "61");
  EXPECT_EQ(shown(all, "energy_source"), "nvml,rapl");
  EXPECT_FALSE(all.contains("energy_source_sum"));
}

TEST_F(EnergyFileTest, IterationsHaveStatistics) {
  measured("energy_wh=0.5\npower_mean_w=100\npower_max_w=200\n");
  measured("energy_wh=1.5\npower_mean_w=100\npower_max_w=200\n");
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "energy_wh_sum"), "2.0");
  EXPECT_EQ(shown(all, "energy_wh_avg"), "1.0");
  EXPECT_EQ(shown(all, "energy_wh_cnt"), "2");
}

TEST_F(EnergyFileTest, TheMachineHasItsUnitsAndTexts) {
  measured(
      "machine_gpu_clock_mhz=1410\nmachine_gpu_temperature_max_c=83\n"
      "machine_governor=performance\nenergy_quality=estimated\n");
  const FoundValues all = findings();
  EXPECT_EQ(all.find("machine_gpu_clock_mhz")->second.unit, "MHz");
  EXPECT_EQ(all.find("machine_gpu_temperature_max_c")->second.unit, "°C");
  EXPECT_FALSE(all.find("machine_gpu_clock_mhz")->second.estimated);
  EXPECT_EQ(shown(all, "machine_governor"), "performance");
}

TEST_F(EnergyFileTest, OneWorkpackageOfARowIsEnoughToDoubtIt) {
  measured("energy_wh=0.5\n");
  for (const char* busy : {"1.0 of 2", "0.5 of 2", "1.0 of 2"})
    measured(std::string("machine_disturbance=CPUs used by other programs: ") + busy + "\n");
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "machine_disturbance"), "CPUs used by other programs: 1.0 of 2");
  EXPECT_EQ(shown(all, "machine_disturbance_last"), "CPUs used by other programs: 0.5 of 2");
}

TEST_F(EnergyFileTest, PatternsMayReadItToo) {
  measured(summary);
  group_.files[0].patterns = {pattern("source", "energy_source=(\\w+)")};
  EXPECT_EQ(shown(findings(), "source"), "nvml");
}

TEST_F(EnergyFileTest, AnEstimateIsMarkedAlsoInWhatIsDerived) {
  group_.parameter = parameters({{"tokens", "100"}});
  measured("energy_wh=0.5\nduration_s=6\nenergy_quality=estimated\n");
  derived("per_token", "${energy_wh_avg} / $tokens", real);
  derived("per_kilo_token", "$per_token * 1000", real);
  derived("speed", "$tokens / $duration_s", real);
  const FoundValues all = findings();
  EXPECT_TRUE(all.find("energy_wh_max")->second.estimated);
  EXPECT_EQ(shown(all, "per_kilo_token"), "5.0");
  EXPECT_TRUE(all.find("per_kilo_token")->second.estimated);
  EXPECT_FALSE(all.find("speed")->second.estimated);
}

TEST_F(EnergyFileTest, AReasonStandsForWhatIsAbsent) {
  measured(
      "energy_nvml:0_wh=0.5\nduration_s=6\nenergy_quality=partial\nenergy_absent=GPU 1 was lost\n");
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "energy_wh"), "absent: GPU 1 was lost");
  EXPECT_EQ(shown(all, "energy_wh_avg"), "absent: GPU 1 was lost");
  EXPECT_EQ(shown(all, "power_max_w_cnt"), "absent: GPU 1 was lost");
  EXPECT_EQ(all.find("energy_wh")->second.unit, "Wh");
  EXPECT_EQ(shown(all, "energy_nvml:0_wh"), "0.5");
}

TEST_F(EnergyFileTest, WhatFewSensorsTellIsAbsentWithAReason) {
  group_.is_looked_up = [](std::string_view name) { return name.ends_with("_max"); };
  measured("energy_wh=0.5\npower_node_mean_w=300\nenergy_quality=measured\n");
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "power_node_mean_w_avg"), "300.0");
  EXPECT_EQ(shown(all, "power_node_apparent_max_va"),
            "absent: no sensor tells the node's apparent power");
  EXPECT_EQ(shown(all, "power_device_max_w_max"), "absent: no GPU or IPU was measured");
}

TEST_F(EnergyFileTest, DevicesWithoutASampleOfTheirPowerAreNotCalledUnmeasured) {
  group_.is_looked_up = [](std::string_view name) { return name.ends_with("_max"); };
  measured("energy_wh=0.5\nenergy_devices_wh=0.3\nenergy_quality=measured\n");
  EXPECT_EQ(shown(findings(), "power_devices_max_w_max"),
            "absent: a device has no sample of its power");
}

TEST_F(EnergyFileTest, WhatIsDerivedFromAnAbsentValueIsAbsentToo) {
  measured("energy_absent=no power source\n");
  derived("per_token", "$energy_wh / 100", real).default_value = "0";
  derived("per_kilo_token", "$per_token * 1000", real);
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "per_token"), "absent: no power source");
  EXPECT_EQ(shown(all, "per_kilo_token"), "absent: no power source");
}

TEST_F(EnergyFileTest, ARegionWithoutEnergyIsAbsentForTheReasonOfTheTotal) {
  measured("duration_s=6\nduration_region_epoch_s=5\nenergy_absent=no power source\n");
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "energy_region_epoch_wh"), "absent: no power source");
  EXPECT_EQ(shown(all, "power_region_epoch_w_avg"), "absent: no power source");
  EXPECT_EQ(all.find("energy_region_epoch_wh")->second.unit, "Wh");
  EXPECT_EQ(shown(all, "duration_region_epoch_s"), "5.0");
}

TEST_F(EnergyFileTest, ARegionWithoutDevicesSaysSo) {
  measured("energy_wh=0.5\nenergy_region_epoch_wh=0.25\nduration_region_epoch_s=5\n");
  EXPECT_EQ(shown(findings(), "energy_devices_region_epoch_wh_avg"),
            "absent: no GPU or IPU was measured");
}

TEST_F(EnergyFileTest, ARegionTooShortForItsCounterHasNoValue) {
  measured("energy_wh=0.5\nduration_region_eval_s=1e-6\n");
  EXPECT_EQ(shown(findings(), "energy_region_eval_wh"), "absent: the meter gave no value");
}

TEST_F(EnergyFileTest, ASumOverRegionsOfAPartIsAbsentForTheReasonOfTheTotal) {
  measured("energy_wh=0.5\nenergy_region_epoch_wh=0.25\nduration_region_epoch_s=5\n");
  measured("energy_absent=GPU 1 was lost\nduration_region_epoch_s=5\n");
  EXPECT_EQ(shown(findings(), "energy_region_epoch_wh_sum"),
            "absent: only 1 of 2 workpackages have a value: GPU 1 was lost");
}

TEST_F(EnergyFileTest, ManySourcesWithoutASensorAreOneShortReason) {
  measured(
      "energy_quality=none\nenergy_absent=rapl: not readable; nvml: no NVIDIA driver; cray: "
      "none\n");
  EXPECT_EQ(shown(findings(), "energy_wh"),
            "absent: no power sensor; `bench-energy --list` shows why, `--power-source model:...` "
            "estimates");
}

TEST_F(EnergyFileTest, OneSourceWithoutASensorSaysWhy) {
  measured("energy_quality=none\nenergy_absent=nvml: no NVIDIA driver\n");
  EXPECT_EQ(shown(findings(), "energy_wh"), "absent: nvml: no NVIDIA driver");
}

/// What a formula over the energy of a region comes to.
struct RegionCase {
  std::string name;
  std::string formula;
  std::string summary;  ///< Empty: the meter wrote none.
  std::string expected;
};
class RegionFormulaTest : public EnergyFileTest, public testing::WithParamInterface<RegionCase> {};

TEST_P(RegionFormulaTest, HasAValueOrAReason) {
  if (GetParam().summary.empty())
    unmeasured();
  else
    measured(GetParam().summary);
  derived("found", GetParam().formula, real);
  EXPECT_EQ(shown(findings(), "found"), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Regions, RegionFormulaTest,
    testing::Values(RegionCase{"Measured", "100 / $energy_region_epoch_wh_avg",
                               "energy_wh=0.5\nenergy_region_epoch_wh=0.25\n", "400.0"},
                    RegionCase{"NothingWasWritten", "100 / $energy_region_epoch_wh_avg", "",
                               "absent: " + wrote_nothing},
                    RegionCase{"NoSensor", "100 / $energy_region_epoch_wh",
                               "duration_region_epoch_s=5\nenergy_absent=no power source\n",
                               "absent: no power source"},
                    RegionCase{"NoSensorAndNoRegion", "$power_region_epoch_w_max * 2",
                               "energy_absent=no power source\n", "absent: no power source"},
                    RegionCase{"ARegionThatNobodyMarked", "100 / $energy_region_epohc_wh",
                               "energy_wh=0.5\nenergy_region_epoch_wh=0.25\n",
                               "absent: evaluation failed: SyntaxError: invalid syntax"}),
    support::case_name);

TEST_F(EnergyFileTest, APatternThatIsNamedAsARegionIsNoneOfTheMeters) {
  measured("energy_absent=no power source\n");
  scan("", {pattern("energy_region_epoch_wh", "E=(\\d)", real)});
  derived("twice", "$energy_region_epoch_wh * 2", real).default_value = "-1";
  EXPECT_EQ(shown(findings(), "twice"), "-1.0");
}

TEST_F(EnergyFileTest, AMissingFileSaysThatTheMeterWroteNothing) {
  unmeasured();
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "energy_wh"), "absent: " + wrote_nothing);
  EXPECT_EQ(shown(all, "power_mean_w_std"), "absent: " + wrote_nothing);
  EXPECT_EQ(all.size(), 30);
}

TEST_F(EnergyFileTest, WhatWasRecoveredSaysSo) {
  measured("energy_wh=0.5\nenergy_quality=recovered\nenergy_recovered=the meter was killed\n");
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "energy_quality"), "recovered");
  EXPECT_EQ(shown(all, "energy_recovered"), "the meter was killed");
}

TEST_F(EnergyFileTest, APartOfTheIterationsHasNoSum) {
  measured("energy_wh=0.5\nduration_s=6\n");
  measured("energy_absent=counter went backwards\nduration_s=6\n");
  unmeasured();
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "energy_wh"), "0.5");
  EXPECT_EQ(shown(all, "energy_wh_avg"), "0.5");
  EXPECT_EQ(shown(all, "energy_wh_cnt"), "1");
  EXPECT_EQ(
      shown(all, "energy_wh_sum"),
      "absent: only 1 of 3 workpackages have a value: counter went backwards; " + wrote_nothing);
  EXPECT_EQ(shown(all, "duration_s_sum"),
            "absent: only 2 of 3 workpackages have a value: the meter gave no value");
}

TEST_F(EnergyFileTest, AFailedIterationHasNoPartInTheStatistics) {
  measured("energy_wh=0.5\nduration_s=6\n");
  group_.unmeasured = {"workpackage 1 failed"};
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "energy_wh_avg"), "0.5");
  EXPECT_EQ(shown(all, "energy_wh_cnt"), "1");
  EXPECT_EQ(shown(all, "energy_wh_sum"),
            "absent: only 1 of 2 workpackages have a value: workpackage 1 failed");
}

TEST_F(EnergyFileTest, APatternOfTheSameNameGoesFirst) {
  measured("energy_wh=0.5\n");
  scan("energy: 7", {pattern("energy_wh", "energy: (\\d)", integer)});
  EXPECT_EQ(shown(findings(), "energy_wh_avg"), "7.0");
}

TEST_F(EnergyFileTest, OtherLinesAreLeftOut) {
  measured("# summary\nenergy_wh=nan\nhost=node1\n\n");
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "energy_wh"), "absent: the meter gave no value");
  EXPECT_FALSE(all.contains("host"));
}

TEST_F(EnergyFileTest, DurationsAreNeverEstimates) {
  measured(
      "energy_wh=1\nduration_s=2\nenergy_region_a_wh=0.5\nduration_region_a_s=1\n"
      "energy_quality=estimated\n");
  const FoundValues all = findings();
  EXPECT_TRUE(all.find("energy_wh")->second.estimated);
  EXPECT_TRUE(all.find("energy_region_a_wh")->second.estimated);
  EXPECT_FALSE(all.find("duration_s")->second.estimated);
  EXPECT_FALSE(all.find("duration_region_a_s")->second.estimated);
}

TEST_F(EnergyFileTest, ARegionWithoutEnergyHasItsReason) {
  measured(
      "energy_wh=1\npower_mean_w=1\npower_max_w=1\nduration_region_a_s=1\n"
      "energy_region_a_absent=nvml:0:gpu: its marks came late\nenergy_quality=measured\n");
  const FoundValues all = findings();
  EXPECT_EQ(all.find("energy_region_a_wh")->second.absent_reason,
            "nvml:0:gpu: its marks came late");
  EXPECT_EQ(all.find("power_region_a_w")->second.absent_reason, "nvml:0:gpu: its marks came late");
  EXPECT_FALSE(all.contains("energy_region_a_absent"));
}

}  // namespace
}  // namespace bench::results
