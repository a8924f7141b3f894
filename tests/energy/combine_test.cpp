#include "energy/fixtures.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/program/combine.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/report.hpp>

namespace bench::energy {
namespace {

using enum Course;

/// Texts of energy.txt, and that of all together.
struct SummariesCase {
  std::string name;
  std::vector<std::string> meters;
  std::string expected;
  Course course = at_once;
};
class CombineSummariesTest : public testing::TestWithParam<SummariesCase> {};

TEST_P(CombineSummariesTest, IsTheSummaryOfAllMeters) {
  std::vector<Summary> summaries;
  for (const std::string& text : GetParam().meters)
    summaries.push_back(parse_summary(text, "energy.txt"));
  std::string text;
  for (const NameValue& line : combine_summaries(summaries, GetParam().course))
    text += line_of(line) + "\n";
  EXPECT_EQ(text, GetParam().expected);
}

const std::string devices = "energy_devices_wh=1.5\npower_devices_mean_w=250\n";
const std::string devices_of_a_region =
    "energy_devices_region_epoch_wh=1.5\nduration_region_epoch_s=60\n";
const std::string region_of_60_s = "duration_region_epoch_s=60\n";
const std::string short_run =
    "energy_wh=1\nenergy_uncertainty_wh=0.1\nenergy_too_short=at least 2 s\n";
/// The whole run of the second meter has no energy, which tells the reason of the region, too.
const std::vector<std::string> one_without_an_energy{
    "energy_region_a_wh=1\nenergy_region_a_uncertainty_wh=0.1\npower_region_a_w=100\n"
    "duration_region_a_s=30\n",
    "duration_region_a_s=20\nenergy_absent=no sensor\n"};
const std::string of_one_gpu = "energy_wh=2\nenergy_nvml_0_gpu_wh=2\n";

INSTANTIATE_TEST_SUITE_P(
    Energy, CombineSummariesTest,
    testing::Values(
        SummariesCase{"AddsEnergiesAndPowersAndTakesTheLongestTime",
                      {"energy_wh=1.5\npower_mean_w=100\nenergy_nvml_0_gpu_wh=1\nduration_s=54\n"
                       "duration_region_epoch_s=30\n",
                       "energy_wh=2\npower_mean_w=120.5\nenergy_nvml_0_gpu_wh=1.25\n"
                       "duration_s=60\nduration_region_epoch_s=29\n"},
                      "energy_wh=3.5\npower_mean_w=220.5\nenergy_nvml_0_gpu_wh=2.25\n"
                      "duration_s=60\nduration_region_epoch_s=30\n"},
        SummariesCase{"TheDevicesOfNodesAreNotAdded",
                      {"power_device_max_w=310\npower_device_mean_w=200\n",
                       "power_device_max_w=290\npower_device_mean_w=180\n"},
                      "power_device_max_w=310\npower_device_mean_w=190\n"},
        SummariesCase{"WhatAllDevicesTakeIsAdded",
                      {devices, devices},
                      "energy_devices_wh=3\npower_devices_mean_w=500\n"},
        SummariesCase{"WhatAllDevicesTakeIsAddedOverNodesThatKnowItOnly",
                      {devices, "duration_s=1\n"},
                      "duration_s=1\n"},
        SummariesCase{"TheDevicesOfARegionAreAdded",
                      {devices_of_a_region, devices_of_a_region},
                      "energy_devices_region_epoch_wh=3\nduration_region_epoch_s=60\n"},
        SummariesCase{"TheDevicesOfARegionAreAddedWhereAllItsMetersKnowThem",
                      {devices_of_a_region, region_of_60_s},
                      region_of_60_s},
        SummariesCase{"TheDevicesOfARegionAreNotAddedWhereOneHasAReason",
                      {devices_of_a_region, "energy_region_epoch_absent=late\n" + region_of_60_s},
                      region_of_60_s + "energy_region_epoch_absent=late\n"},
        SummariesCase{"ThePowersOfNodesAreNotAdded",
                      {"power_node_mean_w=600\npower_node_apparent_max_va=640\n",
                       "power_node_mean_w=590\npower_node_apparent_max_va=650\n"},
                      "power_node_mean_w=595\npower_node_apparent_max_va=650\n"},
        SummariesCase{"OneAfterTheOtherAddsTimesAndTakesTheMeanOfPowers",
                      {"energy_wh=1\npower_mean_w=100\npower_max_w=150\npower_idle_w=40\n"
                       "duration_s=36\npower_region_epoch_w=120\nduration_region_epoch_s=10\n",
                       "energy_wh=6\npower_mean_w=200\npower_max_w=210\npower_idle_w=44\n"
                       "duration_s=108\npower_region_epoch_w=180\nduration_region_epoch_s=50\n"
                       "power_region_evaluation_w=90\nduration_region_evaluation_s=5\n"},
                      "energy_wh=7\npower_mean_w=175\npower_max_w=210\npower_idle_w=43\n"
                      "duration_s=144\npower_region_epoch_w=170\nduration_region_epoch_s=60\n"
                      "power_region_evaluation_w=90\nduration_region_evaluation_s=5\n",
                      in_sequence},
        SummariesCase{"OneAfterTheOtherHasNoTotalWhereOneHasNone",
                      {"energy_wh=1\npower_mean_w=100\nduration_s=36\n",
                       "duration_s=4\nenergy_absent=no sensor\n"},
                      "duration_s=40\nenergy_absent=no sensor\n",
                      in_sequence},
        SummariesCase{"OfTheMachinesTellsTheWorst",
                      {"machine_load=0.5\nmachine_gpu_clock_min_mhz=1410\n"
                       "machine_gpu_temperature_max_c=60\nmachine_governor=performance\n",
                       "machine_load=3\nmachine_gpu_clock_min_mhz=1200\n"
                       "machine_gpu_temperature_max_c=83\nmachine_governor=performance\n"
                       "machine_disturbance=too warm\n"},
                      "machine_load=3\nmachine_gpu_clock_min_mhz=1200\n"
                      "machine_gpu_temperature_max_c=83\nmachine_governor=performance\n"
                      "machine_disturbance=too warm\n"},
        SummariesCase{"AreTooShortIfAllOfTheEnergyIsKnownBadly",
                      {"energy_wh=2\nenergy_uncertainty_wh=0.1\n", short_run},
                      "energy_wh=3\nenergy_uncertainty_wh=0.2\nenergy_too_short=at least 2 s\n"},
        SummariesCase{"AreNotTooShortIfAllOfTheEnergyIsKnownWell",
                      {"energy_wh=4\nenergy_uncertainty_wh=0.1\n", short_run},
                      "energy_wh=5\nenergy_uncertainty_wh=0.2\n"},
        SummariesCase{"HasNoErrorBarWhereOneEnergyIsAnEstimate",
                      {"energy_region_a_wh=1\nenergy_region_a_uncertainty_wh=0.1\n",
                       "energy_region_a_wh=2\n"},
                      "energy_region_a_wh=3\n"},
        SummariesCase{"NamesAllSourcesAndTheWorstQuality",
                      {"energy_source=rapl,nvml\nenergy_quality=measured\n",
                       "energy_source=nvml,model\nenergy_quality=estimated\n"},
                      "energy_source=rapl,nvml,model\nenergy_quality=estimated\n"},
        SummariesCase{
            "OneThatWasRecoveredMakesTheWholeRecovered",
            {"energy_quality=measured\n", "energy_quality=recovered\nenergy_recovered=killed\n",
             "energy_quality=recovered\nenergy_recovered=too\n"},
            "energy_quality=recovered\nenergy_recovered=killed; too\n"},
        SummariesCase{
            "HasNoTotalWhereOneHasNone",
            {"energy_wh=1\nenergy_quality=measured\n", "energy_quality=none\nenergy_absent=no\n"},
            "energy_quality=none\nenergy_absent=no\n"},
        SummariesCase{"ARegionThatOneMeterDoesNotKnowHasNoEnergy",
                      {"energy_region_a_wh=1\npower_region_a_w=100\nduration_region_a_s=30\n",
                       "energy_region_a_absent=its marks came late\nduration_region_a_s=29\n"},
                      "duration_region_a_s=30\nenergy_region_a_absent=its marks came late\n"},
        SummariesCase{"ARegionHasNoEnergyWhereOneOfItsMetersHasNone", one_without_an_energy,
                      "duration_region_a_s=30\nenergy_absent=no sensor\n"},
        SummariesCase{"OneAfterTheOtherARegionHasNoEnergyWhereOneOfItsMetersHasNone",
                      one_without_an_energy, "duration_region_a_s=50\nenergy_absent=no sensor\n",
                      in_sequence},
        SummariesCase{
            "ARegionOfSomeMetersHasTheEnergyOfThose",
            {"energy_region_a_wh=1\nduration_region_a_s=30\n", "energy_absent=no sensor\n"},
            "energy_region_a_wh=1\nduration_region_a_s=30\nenergy_absent=no sensor\n"},
        SummariesCase{"OneAfterTheOtherAChannelHasNoEnergyThatOneHasLost",
                      {"energy_wh=2\nenergy_mock_lost_wh=2\nenergy_mock_lost_uncertainty_wh=0.1\n",
                       "energy_absent=mock:lost: failed\n"},
                      "energy_absent=mock:lost: failed\n",
                      in_sequence},
        SummariesCase{"OfNodesAChannelHasNoEnergyThatOneHasLost",
                      {of_one_gpu, "energy_absent=nvml:0:gpu: failed\n"},
                      "energy_absent=nvml:0:gpu: failed\n"},
        SummariesCase{"OfNodesEachMayHaveChannelsOfItsOwn",
                      {of_one_gpu, "energy_wh=3\n"},
                      "energy_wh=5\nenergy_nvml_0_gpu_wh=2\n"},
        SummariesCase{"OneAfterTheOtherEachMayHaveChannelsOfItsOwn",
                      {of_one_gpu, "energy_wh=3\nenergy_nvml_1_gpu_wh=3\n"},
                      "energy_wh=5\nenergy_nvml_0_gpu_wh=2\nenergy_nvml_1_gpu_wh=3\n",
                      in_sequence},
        SummariesCase{"HaveTheLevelOfAllNodesTogether",
                      std::vector<std::string>(16,
                                               "energy_wh=1\npower_mean_w=600\nenergy_nodes=1\n"
                                               "energy_gap_s=0.25\nenergy_level=0\n"
                                               "energy_level_limit=machine fraction\n"),
                      "energy_wh=16\npower_mean_w=9600\nenergy_nodes=16\nenergy_gap_s=0.25\n"
                      "energy_level=1\nenergy_level_limit=machine fraction: level 1 if this is a "
                      "tenth of the machine; level 2 also needs network and storage, and meters "
                      "within 2 %\n"},
        SummariesCase{
            "HaveNoLevelWhereOneMeasuresAPartOfItsNode",
            {"energy_wh=1\npower_mean_w=9000\nenergy_nodes=15\nenergy_gap_s=0.25\n",
             "energy_wh=1\npower_mean_w=600\nenergy_nodes=0\nenergy_gap_s=0.5\n"},
            "energy_wh=2\npower_mean_w=9600\nenergy_nodes=0\nenergy_gap_s=0.5\n"
            "energy_level=0\nenergy_level_limit=subsystems: the nodes are not measured as "
            "a whole\n"},
        SummariesCase{"ARegionThatCameAndWentAtOnceForOneMeterHasNoEnergy",
                      {"energy_region_a_wh=1\nduration_region_a_s=30\n",
                       "energy_region_a_absent=one moment\n"},
                      "duration_region_a_s=30\nenergy_region_a_absent=one moment\n"},
        SummariesCase{"AddsWhatAnotherVersionHasWhereAllHaveIt",
                      {"energy_of_tomorrow_j=1\npower_of_tomorrow=3\n", "energy_of_tomorrow_j=2\n"},
                      "energy_of_tomorrow_j=3\n"}),
    [](const auto& test) { return test.param.name; });

TEST(CombineSummaryFiles, ReadsAndWritesFiles) {
  const TemporaryDirectory directory;
  directory.write("a.txt", "energy_wh=1\nenergy_quality=measured");
  directory.write("b.txt", "energy_wh=2\nenergy_quality=measured");
  const auto output = directory.path() / "energy.txt";
  combine_summary_files(
      std::vector<std::filesystem::path>{directory.path() / "a.txt", directory.path() / "b.txt"},
      output);
  EXPECT_EQ(read_file(output), "energy_wh=3\nenergy_quality=measured\n");
}

TEST(CombineSummaryFiles, ADirectoryStandsForItsMetersAtTheSameTime) {
  const TemporaryDirectory directory;
  directory.write("one/energy.n1.txt", "energy_wh=1\nduration_s=10");
  directory.write("one/energy.n2.txt", "energy_wh=2\nduration_s=11");
  directory.write("two/energy.txt", "energy_wh=4\nduration_s=5");
  const auto output = directory.path() / "energy.txt";
  combine_summary_files(std::vector{directory.path() / "one", directory.path() / "two"}, output,
                        Course::in_sequence);
  EXPECT_EQ(read_file(output), "energy_wh=7\nduration_s=16\n");
}

TEST(CombineSummaryFiles, WithAMeterThatWroteNoResultThereAreNoFigures) {
  const TemporaryDirectory directory;
  directory.write("one/energy.txt", "energy_wh=1\nduration_s=10\nenergy_quality=measured");
  directory.write("two/power.csv", "time_s,unix_time_s,mock:constant_w");
  const auto output = directory.path() / "energy.txt";
  combine_summary_files(std::vector{directory.path() / "one", directory.path() / "two"}, output,
                        Course::in_sequence);
  EXPECT_EQ(read_file(output),
            "energy_quality=partial\nenergy_absent=the meter of " +
                (directory.path() / "two/power.csv").string() +
                " wrote no result (if it was killed, `bench-energy recover` makes one from its "
                "samples, and `bench-energy combine` the sum)\n");
}

/// The meter of the first rank has read that of the node, in which the GPU of the second is.
TEST(CombineSummaryFiles, WhatAMeterOfTheNodeHasMeasuredIsNotAdded) {
  const TemporaryDirectory directory;
  const std::string rest = "\nenergy_devices_wh=2\nduration_s=10\nenergy_quality=measured\n";
  directory.write("energy.n1.0.txt",
                  "energy_wh=9" + rest + "energy_region_a_wh=3\nenergy_nodes=1\nenergy_gap_s=0.1");
  directory.write("energy.n1.1.txt",
                  "energy_wh=2" + rest + "energy_region_a_wh=1\nenergy_nodes=0\nenergy_gap_s=0.1");
  directory.write("energy.n2.2.txt", "energy_wh=2" + rest + "energy_nodes=0\nenergy_gap_s=0.1");
  const auto output = directory.path() / "energy.txt";
  combine_summary_files(std::vector{directory.path()}, output);
  EXPECT_EQ(read_file(output),
            "energy_wh=11\nenergy_devices_wh=6\nduration_s=10\nenergy_quality=measured\n"
            "energy_region_a_wh=3\n");
}

/// Where the second meter has its first sample, and whether the two still count as one after the
/// other: the first ran from 100 s to 110 s.
struct Overlap {
  std::string name;
  std::string row;
  bool is_sum;
};
class OverlapTest : public testing::TestWithParam<Overlap> {};

TEST_P(OverlapTest, HasNoSum) {
  const TemporaryDirectory directory;
  const std::string header = "time_s,unix_time_s,mock:constant_w\n";
  directory.write("one/energy.txt", "energy_wh=1\nduration_s=10\nenergy_quality=measured");
  directory.write("one/power.csv", header + "0.5,100.5,40\n");
  directory.write("two/energy.n1.txt", "energy_wh=2\nduration_s=5\nenergy_quality=measured");
  directory.write("two/power.n1.csv", header + GetParam().row);
  const auto output = directory.path() / "energy.txt";
  const auto combine = [&](Course course) {
    combine_summary_files(std::vector{directory.path() / "one", directory.path() / "two"}, output,
                          course);
    return read_file(output);
  };
  const std::string one = (directory.path() / "one").string();
  const std::string two = (directory.path() / "two").string();
  EXPECT_EQ(combine(Course::in_sequence),
            GetParam().is_sum ? "energy_wh=3\nduration_s=15\nenergy_quality=measured\n"
                              : "energy_quality=partial\nenergy_absent=" + one + " and " + two +
                                    " ran at the same time, so their sum may count a node twice\n");
  EXPECT_EQ(combine(Course::at_once), "energy_wh=3\nduration_s=10\nenergy_quality=measured\n");
}

INSTANTIATE_TEST_SUITE_P(Energy, OverlapTest,
                         testing::Values(Overlap{"AtTheSameTime", "1,102,40\n", false},
                                         Overlap{"Before", "1,98,40\n", false},
                                         Overlap{"ByTheClocksOfTwoNodes", "1,110.5,40\n", true},
                                         Overlap{"OneAfterTheOther", "1,112,40\n", true},
                                         Overlap{"WithoutASample", "", true}),
                         [](const auto& test) { return test.param.name; });

/// Operands that would make a wrong sum, and what is said of them; `DIR` is where they are.
struct RefusedOperands {
  std::string name;
  std::vector<std::string> operands;
  std::string message;
};
class RefusedOperandsTest : public testing::TestWithParam<RefusedOperands> {};

TEST_P(RefusedOperandsTest, AreNamedAndNothingIsWritten) {
  const TemporaryDirectory directory;
  directory.write("a/energy.txt", "energy_wh=1");
  directory.write("empty/model.txt", "of a program");
  std::filesystem::create_directory_symlink("a", directory.path() / "link");
  std::vector<std::filesystem::path> operands;
  for (const std::string& operand : GetParam().operands)
    operands.push_back(directory.path() / operand);
  const auto output = directory.path() / "energy.txt";
  EXPECT_EQ(message_of([&] { combine_summary_files(operands, output, Course::in_sequence); }),
            replace_all(GetParam().message, "DIR",
                        std::filesystem::canonical(directory.path()).string()));
  EXPECT_FALSE(std::filesystem::exists(output));
}

INSTANTIATE_TEST_SUITE_P(
    Energy, RefusedOperandsTest,
    testing::Values(RefusedOperands{"NoMeter", {"empty"}, "no energy.txt in DIR/empty"},
                    RefusedOperands{
                        "NoMeterInOne", {"a/", "empty/"}, "no energy.txt in DIR/empty/"},
                    RefusedOperands{"ADirectoryTwice", {"a", "a/"}, "DIR/a/ is named twice"},
                    RefusedOperands{"ALink", {"a", "link"}, "DIR/link is named twice"},
                    RefusedOperands{"AFileTwice",
                                    {"a/energy.txt", "a/../a/energy.txt"},
                                    "DIR/a/../a/energy.txt is named twice"},
                    RefusedOperands{"AFileAndItsDirectory",
                                    {"a/energy.txt", "link"},
                                    "DIR/a/energy.txt is named, and so is its directory"}),
    [](const auto& test) { return test.param.name; });

TEST(CombineSummaryFiles, ALineWithoutItsNumberHasAPlaceAndAHint) {
  const TemporaryDirectory directory;
  directory.write("a.txt", "energy_source=mock\nenergy_wh=abc");
  const std::vector files{directory.path() / "a.txt"};
  try {
    combine_summary_files(files, directory.path() / "energy.txt");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "'abc' is not a number");
    EXPECT_EQ(error.hint(),
              "bench-energy writes one there; leave out a file that was changed or cut off");
    EXPECT_EQ(error.place(), (Place{files[0].string(), 2, 11}));
  }
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "energy.txt"));
}

TEST(CombineSummaryFiles, NeverOverwritesWhatItReads) {
  const TemporaryDirectory directory;
  directory.write("a.txt", "energy_wh=1");
  const std::vector files{directory.path() / "a.txt"};
  EXPECT_THROW(combine_summary_files(files, directory.path() / "./a.txt"), Error);
  EXPECT_EQ(read_file(files[0]), "energy_wh=1\n");
}

TEST(CombineSummaryFiles, RefusesWhatIsNone) {
  const TemporaryDirectory directory;
  directory.write("a.txt", "channel,energy_wh");
  const std::vector<std::filesystem::path> files{directory.path() / "a.txt"};
  EXPECT_THROW(combine_summary_files(files, directory.path() / "energy.txt"), Error);
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "energy.txt"));
}

ChannelRecord record(const std::string& name, Scope scope, std::optional<double> energy_wh,
                     const std::string& device_id = "", int device = 0) {
  ChannelRecord result;
  result.channel.name = name;
  result.channel.scope = scope;
  result.channel.device_id = device_id;
  result.channel.device = device;
  result.energy_wh = energy_wh;
  return result;
}

EnergyFile file_of(const std::string& node, std::optional<long long> rank,
                   std::vector<ChannelRecord> channels) {
  return {node + ".csv", node, rank, std::move(channels)};
}

struct CombineCase {
  std::string name;
  std::vector<EnergyFile> files;
  std::string expected;
};
class CombineTest : public testing::TestWithParam<CombineCase> {};

TEST_P(CombineTest, MakesOneTable) {
  EXPECT_EQ(combine(GetParam().files), GetParam().expected);
}

constexpr auto gpu = Scope::gpu;
constexpr auto module = Scope::module;

INSTANTIATE_TEST_SUITE_P(
    Energy, CombineTest,
    testing::Values(
        CombineCase{"RanksOfTwoNodesInOrder",
                    {file_of("b", 10, {record("pynvml:0", gpu, 4)}),
                     file_of("b", 9, {record("pynvml:1", gpu, 3)}),
                     file_of("a", 0, {record("pynvml:0", gpu, 1), record("pynvml:1", gpu, 2)})},
                    ",nodename,rank,pynvml:0,pynvml:1,total_wh\n"
                    "0,a,0,1.0,2.0,3.0\n"
                    "1,b,9,,3.0,3.0\n"
                    "2,b,10,4.0,,4.0\n"},
        CombineCase{"WhatTwoRanksSawIsCountedOnce",
                    {file_of("a", 0, {record("pynvml:0", gpu, 1), record("pynvml:1", gpu, 2)}),
                     file_of("a", 1, {record("pynvml:0", gpu, 1.5), record("pynvml:1", gpu, 2.5)})},
                    ",nodename,rank,pynvml:0,pynvml:1,total_wh\n"
                    "0,a,0,1.0,2.0,3.0\n"
                    "1,a,1,,,\n"},
        CombineCase{"AValueGoesBeforeAnAbsentOne",
                    {file_of("a", 0, {record("pynvml:0", gpu, {})}),
                     file_of("a", 1, {record("pynvml:0", gpu, 1.5)})},
                    ",nodename,rank,pynvml:0,total_wh\n"
                    "0,a,0,,\n"
                    "1,a,1,1.5,1.5\n"},
        CombineCase{"GpusAreToldApartByTheirIdentity",
                    {file_of("a", 0, {record("nvml:0:gpu", gpu, 1, "GPU-1")}),
                     file_of("a", 1, {record("nvml:0:gpu", gpu, 2, "GPU-2")}),
                     file_of("a", 2, {record("nvml:7:gpu", gpu, 1, "GPU-1", 7)})},
                    ",nodename,rank,nvml:0:gpu,total_wh\n"
                    "0,a,0,1.0,1.0\n"
                    "1,a,1,2.0,2.0\n"
                    "2,a,2,,\n"},
        CombineCase{"ScopesOfOneGpuAreNoDoubles",
                    {file_of("a", 0,
                             {record("nvml:0:gpu", gpu, 1, "GPU-1"),
                              record("nvml:0:gpu_average", Scope::gpu_average, 1.5, "GPU-1")})},
                    ",nodename,rank,nvml:0:gpu,nvml:0:gpu_average,total_wh\n"
                    "0,a,0,1.0,1.5,1.0\n"},
        CombineCase{"WhatANodeMeterOfAnotherRankContainsIsNotAdded",
                    {file_of("a", 0, {record("hwmon:hwmon3:node", Scope::node, 10, "", -1)}),
                     file_of("a", 1, {record("nvml:0:gpu", gpu, 4, "GPU-1")}),
                     file_of("b", 2, {record("nvml:0:gpu", gpu, 5, "GPU-2")})},
                    ",nodename,rank,hwmon:hwmon3:node,nvml:0:gpu,total_wh\n"
                    "0,a,0,10.0,,10.0\n"
                    "1,a,1,,4.0,\n"
                    "2,b,2,,5.0,5.0\n"},
        CombineCase{"WithoutOneOfItsPartsThereIsNoTotal",
                    {file_of("a", 0, {record("pynvml:0", gpu, 1), record("pynvml:1", gpu, {})})},
                    ",nodename,rank,pynvml:0,pynvml:1,total_wh\n"
                    "0,a,0,1.0,,\n"},
        CombineCase{
            "WhatNobodyKnowsIsNotAdded",
            {file_of("a", {},
                     {record("x:0", Scope::other, 1), record("gh:Module Power Socket 0", module, 3),
                      record("pynvml:0", gpu, 2)})},
            ",nodename,rank,x:0,gh:Module Power Socket 0,pynvml:0,total_wh\n"
            "0,a,,1.0,3.0,2.0,3.0\n"}),
    [](const auto& test) { return test.param.name; });

TEST(Combine, TheSameRankTwiceIsAnError) {
  for (const auto& [rank, message] :
       {std::pair{std::optional<long long>(3), "a.csv and a.csv are both of node a, rank 3"},
        {std::nullopt, "a.csv and a.csv are both of node a"}})
    EXPECT_EQ(message_of([rank = rank] {
                combine({file_of("a", rank, {}), file_of("b", rank, {}), file_of("a", rank, {})});
              }),
              message);
}

TEST(Combine, SaysWhereTheTableIsAsCaramlDoes) {
  const TemporaryDirectory directory;
  directory.write("a.csv", ",0\npynvml:0,0.5\nnodename,a\nrank,0");
  const auto output = directory.path() / "combined.csv";
  EXPECT_EQ(combine_files(std::vector{directory.path() / "a.csv"}, output),
            "Writing combined energy DataFrame to " + output.string());
  EXPECT_EQ(read_file(output), ",nodename,rank,pynvml:0,total_wh\n0,a,0,0.5,0.5\n");
}

TEST(Combine, LeavesOutWhatTheFileSaysIsSharedOrMeasuredTwice) {
  const TemporaryDirectory directory;
  directory.write("a.csv",
                  "channel,energy_wh,shared,parent,scope,device,device_id,host,rank\n"
                  "pm_counters:node,90,1,,node,,,a,0\n"
                  "rapl:package-0,20,1,,package,0,,a,0\n"
                  "amdgpu:0:gpu,40,0,,gpu,,0000:c1:00.0,a,0\n"
                  "hwmon:hwmon4:gpu,41,0,amdgpu:0:gpu,gpu,,,a,0\n"
                  "total,40,,,,,,a,0");
  EXPECT_EQ(combine({read_energy_file(directory.path() / "a.csv")}),
            ",nodename,rank,pm_counters:node,rapl:package-0,amdgpu:0:gpu,hwmon:hwmon4:gpu,"
            "total_wh\n0,a,0,90.0,20.0,40.0,41.0,40.0\n");
}

TEST(Combine, NeverOverwritesWhatItReads) {
  const TemporaryDirectory directory;
  directory.write("a.csv", ",0\npynvml:0,0.5\nnodename,a\nrank,0");
  const std::vector files{directory.path() / "a.csv"};
  EXPECT_THROW(combine_files(files, directory.path() / "./a.csv"), Error);
  EXPECT_EQ(read_energy_file(files[0]).channels.size(), 1U);
}

TEST(Combine, WritesNothingIfAFileIsMissing) {
  const TemporaryDirectory directory;
  directory.write("a.csv", ",0\npynvml:0,0.5\nnodename,a\nrank,0");
  const auto output = directory.path() / "combined.csv";
  EXPECT_THROW(
      combine_files(std::vector{directory.path() / "a.csv", directory.path() / "b.csv"}, output),
      Error);
  EXPECT_FALSE(std::filesystem::exists(output));
}

}  // namespace
}  // namespace bench::energy
