// bench-energy with regions of the program, and the idle node before it.
#include "energy/fixtures.hpp"
#include "energy/program_fixture.hpp"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;

TEST(EnergyRegions, GivesRegionsTheirEnergies) {
  const TemporaryDirectory directory;
  const CommandOutput output = run(
      metered({"--method", "mock:ramp=100W/100W", "--interval", "10ms", "--regions", "--out",
               directory.path().string()},
              "mark() { echo \"$@\" >> \"$BENCH_ENERGY_REGIONS\"; }; sleep 0.2; mark begin 'epoch "
              "1'; sleep 0.5; mark end 'epoch 1'; sleep 0.1; mark begin rest"));
  const auto found = values(output.standard_error);
  const double duration_s = std::stod(found.at("duration_region_epoch_1_s"));
  const double mean_w = joules(found.at("energy_region_epoch_1_wh")) / duration_s;
  EXPECT_NEAR(mean_w, std::stod(found.at("power_region_epoch_1_w")), 0.01);
  // The ramp tells how long its source was there before the run, and its mean over the region is
  // what it shows in the middle: 0.2 s after the run's begin at the earliest.
  const auto sample = csv_cells(read_file(directory.path() / "power.csv")).at(1);
  const double before_s = (std::stod(sample.at(2)) - 100) / 100 - std::stod(sample.at(0));
  const double run_s = std::stod(found.at("duration_s"));
  const double middle_s = (mean_w - 100) / 100 - before_s;
  EXPECT_GE(middle_s, 0.2 + duration_s / 2 - 0.01);
  EXPECT_LE(middle_s, run_s - duration_s / 2 + 0.01);
  EXPECT_THAT(output.standard_error, HasSubstr("a region was still open"));
  const auto rows = csv_cells(read_file(directory.path() / "regions.csv"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1][0], "epoch 1");
  EXPECT_EQ(rows[1][1], "1");
  EXPECT_THAT(read_file(directory.path() / "regions.log"), HasSubstr("end epoch 1\n"));
  const auto times = csv_cells(read_file(directory.path() / "region_times.csv"));
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times[1][0], "epoch 1");
  EXPECT_NEAR(std::stod(times[1][2]) - std::stod(times[1][1]), duration_s, 1e-5);
  EXPECT_EQ(times[2][0], "rest");
}

TEST(EnergyRegions, OneThatCameAndWentAtOnceIsAbsent) {
  const TemporaryDirectory directory;
  const CommandOutput output = run(
      metered({"--method", "mock:constant=100W", "--regions", "--out", directory.path().string()},
              "printf 'begin a b\\nend a b\\nbegin c\\n' >> \"$BENCH_ENERGY_REGIONS\"; sleep "
              "0.1; echo 'end c' >> \"$BENCH_ENERGY_REGIONS\""));
  const auto found = values(output.standard_error);
  EXPECT_EQ(found.count("energy_region_a_b_wh"), 0U);
  EXPECT_EQ(found.count("duration_region_a_b_s"), 0U);
  EXPECT_EQ(found.count("energy_region_c_wh"), 1U);
  EXPECT_THAT(output.standard_error, HasSubstr("1 region has no energy"));
  EXPECT_THAT(read_file(directory.path() / "regions.csv"), HasSubstr("\na b,1,,,,,\n"));
}

TEST(EnergyRegions, HaveTheirFilesBesideJpwrs) {
  const TemporaryDirectory directory;
  run(metered({"--methods", "mock:constant=100W", "--df-out", directory.path().string(),
               "--df-filetype", "csv", "--df-suffix", "%q{SLURM_PROCID}", "--regions"},
              "echo begin a >> \"$BENCH_ENERGY_REGIONS\"; sleep 0.1"),
      {{"SLURM_PROCID", "0"}});
  const auto rows = csv_cells(read_file(directory.path() / "regions.0.csv"));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1][0], "a");
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "energy.0.csv"));
}

TEST(EnergyRegions, TheirTimesMayNotFitTheDiskButTheEnergiesDo) {
  const TemporaryDirectory directory;
  directory.write("region_times.csv/in_the_way", "");
  const CommandOutput output = run(
      metered({"--method", "mock:constant=100W", "--regions", "--out", directory.path().string()},
              "echo begin a >> \"$BENCH_ENERGY_REGIONS\"; sleep 0.1"));
  EXPECT_THAT(output.standard_error, HasSubstr("region_times.csv"));
  EXPECT_THAT(read_file(directory.path() / "energy.txt"), HasSubstr("energy_wh="));
}

TEST(EnergyRegions, LeavesTheEnvironmentAloneWithoutRegions) {
  ProcessSpec bare;
  bare.arguments = {"sh", "-c", "env | grep -v ^_= | sort"};
  EXPECT_EQ(run(metered(constant_power, bare.arguments[2])).standard_output,
            run(bare).standard_output);
}

TEST(EnergyRegions, MeasuresTheIdleNodeBefore) {
  const CommandOutput output =
      run(metered({"--method", "mock:constant=100W", "--baseline", "3s"}, "sleep 0.3"));
  const auto found = values(output.standard_error);
  EXPECT_NEAR(std::stod(found.at("power_idle_w")), 100, 0.1);
  EXPECT_NEAR(joules(found.at("energy_net_wh")), 0, 0.1);
  EXPECT_LT(std::stod(found.at("duration_s")), 3);
}

TEST(EnergyRegions, ASignalEndsTheIdleMeasurementAndThereIsNoProgram) {
  const std::string meter = std::string(BENCH_ENERGY_PROGRAM) +
                            " --method mock:constant=1W --baseline 30s -- echo started";
  ProcessSpec spec;
  spec.arguments = {"sh", "-c", meter + " & sleep 0.3; kill -TERM $!; wait $!; echo $?"};
  EXPECT_EQ(run(spec).standard_output, "143\n");
}

}  // namespace
}  // namespace bench::energy
