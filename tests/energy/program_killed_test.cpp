// What the real bench-energy leaves when it is killed by SIGKILL.
#include "energy/fixtures.hpp"
#include "energy/program_fixture.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/channel_meter.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;

CommandOutput recover(const std::filesystem::path& directory) {
  ProcessSpec spec;
  spec.arguments = {BENCH_ENERGY_PROGRAM, "recover", directory.string()};
  return run(spec);
}

/// The names and values in an energy.txt.
std::map<std::string, std::string> summary_in(const std::filesystem::path& file) {
  return values("bench-energy: " + replace_all(read_file(file), "\n", "\nbench-energy: "));
}

/// Marks a region, lets a counter of RAPL count, and at last copies what a kill would leave.
/// @param counts until two counters are recorded, which a busy machine does late
std::string program_for(const std::string& zone, const std::filesystem::path& out,
                        const std::filesystem::path& copy, bool counts) {
  const std::string recorded =
      counts ? "$(grep -c '^{.counters_j' " + (out / "unfinished.jsonl").string() + " 2> /dev/null)"
             : "2";
  return "mark() { echo \"$1\" >> \"$BENCH_ENERGY_REGIONS\"; }; k=0; "
         "while [ $k -lt 60 ] || [ \"" +
         recorded +
         "\" -lt 2 -a $k -lt 1000 ]; do [ $k = 10 ] && mark 'begin a'; "
         "[ $k = 40 ] && mark 'end a'; k=$((k+1)); "
         "echo $((k*1000000)) > " +
         zone + "/energy_uj; sleep 0.02; done; mkdir " + copy.string() + "; cp " + out.string() +
         "/unfinished.jsonl " + out.string() + "/regions.log " + copy.string();
}

/// A run with these options and the same files as a kill would have left them at its end.
class SameRunTest : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(SameRunTest, IsRecoveredToWhatTheMeterTells) {
  const TemporaryDirectory directory;
  const auto out = directory.path() / "out";
  const auto copy = directory.path() / "copy";
  const std::string zone = (directory.path() / "sys/class/powercap/intel-rapl:0").string();
  directory.write("sys/class/powercap/intel-rapl:0/name", "package-0");
  directory.write("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "1000000000");
  directory.write("sys/class/powercap/intel-rapl:0/energy_uj", "0");
  std::vector<std::string> options = GetParam();
  options.insert(options.end(),
                 {"--interval", "10ms", "--regions", "--format", "csv,json", "--out", out.string(),
                  "--sysfs-root", (directory.path() / "sys").string()});
  run(metered(options, program_for(zone, out, copy, GetParam().back() == "nvml")),
      {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}});
  EXPECT_FALSE(std::filesystem::exists(out / "unfinished.jsonl"));
  std::filesystem::copy(out / "power.csv", copy / "power.csv");
  ASSERT_EQ(recover(copy).status.code, 0);

  const auto expected = nlohmann::json::parse(read_file(out / "energy.json"));
  const auto found = nlohmann::json::parse(read_file(copy / "energy.json"));
  // What lies behind the last sample is not in the recovery, and what lies in a gap is guessed.
  const double duration_s = expected["provenance"]["duration_s"];
  double gap_s = duration_s - found["provenance"]["duration_s"].get<double>();
  for (const auto& channel : expected["channels"])
    gap_s = std::max(gap_s, channel["longest_gap_s"].get<double>());
  EXPECT_NEAR(
      found["total"]["power_max_w"].get<double>() / expected["total"]["power_max_w"].get<double>(),
      1, 0.03);
  EXPECT_NEAR(found["total"]["power_mean_w"].get<double>() /
                  expected["total"]["power_mean_w"].get<double>(),
              1, 0.03 + 2 * gap_s / duration_s);
  // Not as long a run: it ends with the last sample.
  EXPECT_NEAR(found["total"]["energy_wh"].get<double>() * joules_per_wh,
              found["total"]["power_mean_w"].get<double>() *
                  found["provenance"]["duration_s"].get<double>(),
              1e-3);
  for (const char* name : {"energy_counter_wh", "energy_integrated_wh", "parent", "scope"})
    for (std::size_t k = 0; k < expected["channels"].size(); ++k)
      EXPECT_EQ(found["channels"][k][name].is_null(), expected["channels"][k][name].is_null())
          << name << " of " << k;
  const auto region = csv_cells(read_file(copy / "regions.csv")).at(1);
  const auto region_expected = csv_cells(read_file(out / "regions.csv")).at(1);
  EXPECT_EQ(region.at(2), region_expected.at(2));  // duration_s
  EXPECT_NEAR(std::stod(region.at(3)) / std::stod(region_expected.at(3)), 1,
              0.03 + 2 * gap_s / std::stod(region.at(2)));
  EXPECT_EQ(found["provenance"]["program"], expected["provenance"]["program"]);
  EXPECT_TRUE(found["provenance"]["exit_code"].is_null());
  EXPECT_EQ(found["warnings"].at(0), found["provenance"]["recovered"]);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, SameRunTest,
    testing::Values(std::vector<std::string>{"--method", "mock:square=100W/300W/10ms"},
                    std::vector<std::string>{"--method",
                                             "mock:square=100W/300W/10ms,mock:constant=5W"},
                    std::vector<std::string>{"--method", "nvml"},
                    std::vector<std::string>{"--method", "rapl"},
                    std::vector<std::string>{"--method", "rapl,mock:constant=5W"}),
    [](const auto& test) { return "Number" + std::to_string(test.index); });

/// What a killed meter was asked for, and what is there then.
struct KilledCase {
  std::string name;
  std::vector<std::string> options;
  std::vector<std::string> left;
  std::vector<std::string> made;
};
class KilledTest : public testing::TestWithParam<KilledCase> {};

TEST_P(KilledTest, LosesNoSampleAndIsRecovered) {
  const TemporaryDirectory directory;
  std::vector<std::string> options = GetParam().options;
  options.insert(options.end(), {"--interval", "10ms"});
  ProcessSpec spec = metered(options, "sleep 1; kill -KILL $PPID");
  spec.directory = directory.path();
  EXPECT_EQ(run(spec, {{"SLURM_PROCID", "0"}}).status, ExitStatus{.signal = SIGKILL});
  for (const std::string& name : GetParam().left)
    EXPECT_TRUE(std::filesystem::exists(directory.path() / name)) << name;
  const auto rows = csv_cells(read_file(directory.path() / GetParam().left[0]));
  EXPECT_GE(rows.size(), 5U);
  const double first_s = std::stod(rows.at(1).at(1));
  EXPECT_GE(std::stod(rows.back().at(1)) - first_s, 0.5);

  const CommandOutput output = recover(directory.path());
  EXPECT_EQ(output.status.code, 0) << output.standard_error;
  EXPECT_THAT(output.standard_error, HasSubstr("the meter was killed: figures end with its last"));
  for (const std::string& name : GetParam().made)
    EXPECT_TRUE(std::filesystem::exists(directory.path() / name)) << name;
  EXPECT_EQ(recover(directory.path()).status.code, 125);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, KilledTest,
    testing::Values(KilledCase{"Plain",
                               {"--method", "mock:constant=100W", "--out", "."},
                               {"power.csv", "unfinished.jsonl"},
                               {"energy.txt", "energy.csv"}},
                    KilledCase{"WithASuffix",
                               {"--method", "mock:constant=100W", "--out", ".", "--suffix", "r0",
                                "--format", "json"},
                               {"power.r0.csv", "unfinished.r0.jsonl"},
                               {"energy.r0.txt", "energy.r0.json"}},
                    KilledCase{"AsJpwr",
                               {"--methods", "mock:constant=100W", "--df-out", ".", "--df-filetype",
                                "csv", "--df-suffix", "%q{SLURM_PROCID}"},
                               {"power.0.csv", "unfinished.0.jsonl"},
                               {"energy.0.csv", "energy_from_counter.0.csv"}}),
    [](const auto& test) { return test.param.name; });

TEST(EnergyKilled, ASourceThatCameLateIsThere) {
  const TemporaryDirectory directory;
  run(metered({"--method", "mock:constant=100W,nvml", "--wait-ready", "0s", "--interval", "10ms",
               "--out", directory.path().string()},
              "sleep 1.2; kill -KILL $PPID"),
      {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}, {"FAKE_NVML_INIT_MS", "400"}});
  EXPECT_EQ(recover(directory.path()).status.code, 0);
  const auto found = summary_in(directory.path() / "energy.txt");
  EXPECT_EQ(found.at("energy_quality"), "partial");
  EXPECT_EQ(found.at("energy_source"), "mock,nvml");
  EXPECT_THAT(found.at("energy_absent"), HasSubstr("nvml:0:gpu: it gave no reading for"));
}

TEST(EnergyKilled, ADeviceThatWasLostBeforeHasNoEnergy) {
  const TemporaryDirectory directory;
  run(metered({"--method", "mock:lost=100W/300ms,mock:constant=5W", "--interval", "10ms", "--out",
               directory.path().string()},
              "sleep 0.8; kill -KILL $PPID"));
  EXPECT_EQ(recover(directory.path()).status.code, 0);
  const auto found = summary_in(directory.path() / "energy.txt");
  EXPECT_EQ(found.at("energy_quality"), "partial");
  EXPECT_EQ(found.count("energy_wh"), 0U);
  EXPECT_THAT(found.at("energy_absent"), HasSubstr("mock:lost: failed after 0."));
}

TEST(EnergyKilled, BeforeItsFirstSampleHasAReason) {
  const TemporaryDirectory directory;
  run(metered({"--method", "nvml", "--wait-ready", "0s", "--out", directory.path().string()},
              "sleep 0.7; kill -KILL $PPID"),
      {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}, {"FAKE_NVML_INIT_MS", "20000"}});
  EXPECT_EQ(recover(directory.path()).status.code, 0);
  const auto found = summary_in(directory.path() / "energy.txt");
  EXPECT_EQ(found.count("duration_s"), 0U);
  EXPECT_EQ(found.at("energy_quality"), "none");
  EXPECT_THAT(found.at("energy_absent"), HasSubstr("before the first sample"));
}

TEST(EnergyKilled, AMeterThatRunsIsLeftAlone) {
  const TemporaryDirectory directory;
  const std::string out = directory.path().string();
  const CommandOutput output = run(
      metered({"--method", "mock:constant=100W", "--interval", "10ms", "--out", out},
              "sleep 0.7; " + std::string(BENCH_ENERGY_PROGRAM) + " recover " + out + "; echo $?"));
  EXPECT_EQ(output.standard_output, "125\n");
  EXPECT_THAT(output.standard_error, HasSubstr("a meter still writes "));
  EXPECT_EQ(summary_in(directory.path() / "energy.txt").at("energy_quality"), "measured");
}

}  // namespace
}  // namespace bench::energy
