// When the real bench-energy starts the program.
#include "energy/fixtures.hpp"
#include "energy/program_fixture.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;
using testing::Not;

/// How long the program is to wait for a driver that needs 3 s to come up.
struct StartCase {
  std::string name;
  std::vector<std::string> options;
  bool waits;  ///< Until the driver is up.
  bool warned;
};

class EnergyStartTest : public testing::TestWithParam<StartCase> {};

TEST_P(EnergyStartTest, TheProgramWaitsAsLongAsItShall) {
  const StartCase& expected = GetParam();
  const TemporaryDirectory directory;
  std::vector<std::string> options{"--method",   "nvml", "--out", directory.path().string(),
                                   "--interval", "10ms"};
  options.insert(options.end(), expected.options.begin(), expected.options.end());
  const CommandOutput output =
      run(metered(options, "until grep -qs , " + (directory.path() / "power.csv").string() +
                               "; do sleep 0.05; done; sleep 1"),
          {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}, {"FAKE_NVML_INIT_MS", "3000"}});
  const auto found = values(output.standard_error);
  EXPECT_EQ(found.at("energy_quality"), expected.waits ? "measured" : "partial");
  EXPECT_EQ(found.count("energy_wh"), expected.waits ? 1U : 0U);
  if (expected.waits) {
    EXPECT_NEAR(joules(found.at("energy_wh")) / (250 * std::stod(found.at("duration_s"))), 1, 0.05);
  } else {
    EXPECT_THAT(found.at("energy_absent"), HasSubstr("it gave no reading for"));
  }
  const auto rows = csv_cells(read_file(directory.path() / "energy.csv"));
  const auto column = std::ranges::find(rows.at(0), "first_sample_s") - rows[0].begin();
  const double first_sample_s = std::stod(rows.at(1).at(static_cast<std::size_t>(column)));
  if (expected.waits)
    EXPECT_LT(first_sample_s, 1.5);
  else
    EXPECT_GT(first_sample_s, 1.5);
  if (expected.warned)
    EXPECT_THAT(output.standard_error, HasSubstr("a power source is slow to start"));
  else
    EXPECT_THAT(output.standard_error, Not(HasSubstr("slow to start")));
}

INSTANTIATE_TEST_SUITE_P(
    Waits, EnergyStartTest,
    testing::Values(StartCase{"UntilTheDriverIsUp", {}, true, false},
                    StartCase{"NotAtAll", {"--wait-ready", "0s"}, false, false},
                    StartCase{"ABoundedTime", {"--wait-ready", "100ms"}, false, true}),
    [](const auto& parameter) { return parameter.param.name; });

/// Nobody knows what it would have added.
TEST(EnergyStart, WithoutASourceThatNeverComesUpThereIsNoTotalWhichIsALackUnderStrict) {
  const auto run_with = [](std::vector<std::string> options) {
    options.insert(options.end(), {"--method", "mock:constant=100W,nvml", "--wait-ready", "0s"});
    return run(metered(options, "sleep 0.3"),
               {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}, {"FAKE_NVML_INIT_MS", "20000"}});
  };
  const CommandOutput output = run_with({});
  EXPECT_EQ(output.status.code, 0);
  const auto found = values_of(output);
  EXPECT_EQ(found.at("energy_quality"), "partial");
  EXPECT_EQ(found.count("energy_wh"), 0U);
  EXPECT_EQ(found.at("energy_absent"), "nvml: it did not become ready before the program ended");
  EXPECT_EQ(run_with({"--strict"}).status.code, 125);
}

TEST(EnergyStart, SamplesAreThereWhileASourceComesUp) {
  const TemporaryDirectory directory;
  run(metered({"--method", "mock:constant=100W,nvml", "--wait-ready", "0s", "--interval", "10ms",
               "--out", directory.path().string()},
              "until [ $(wc -l < " + (directory.path() / "power.csv").string() +
                  ") -gt 20 ]; do sleep 0.05; done; kill -KILL $PPID"),
      {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}, {"FAKE_NVML_INIT_MS", "600000"}});
  const auto rows = csv_cells(read_file(directory.path() / "power.csv"));
  EXPECT_THAT(rows.at(0), testing::ElementsAre("time_s", "unix_time_s", "mock:constant_w"));
  EXPECT_GT(rows.size(), 20U);
}

/// A signal that comes while a driver comes up, and what the shell is told then.
struct StartSignalCase {
  std::string name;
  std::string before;  ///< What the shell does before it starts the meter.
  std::string signal;
  std::string expected;
};

class EnergyStartSignalTest : public testing::TestWithParam<StartSignalCase> {};

TEST_P(EnergyStartSignalTest, EndsTheMeterBeforeTheProgramStarts) {
  const TemporaryDirectory directory;
  const std::string meter = std::string(BENCH_ENERGY_PROGRAM) + " --method nvml -- echo started";
  ProcessSpec spec;
  spec.arguments = {"sh", "-c",
                    GetParam().before + meter + " 2>/dev/null & sleep 0.3; kill -" +
                        GetParam().signal + " $!; wait $!; echo $?"};
  const CommandOutput output =
      run(spec, {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}, {"FAKE_NVML_INIT_MS", "1500"}});
  EXPECT_EQ(output.standard_output, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Signals, EnergyStartSignalTest,
    testing::Values(StartSignalCase{"Terminate", "", "TERM", "143\n"},
                    StartSignalCase{"HangUp", "", "HUP", "129\n"},
                    StartSignalCase{"HangUpUnderNohup", "trap '' HUP; ", "HUP", "started\n0\n"},
                    // What a shell without job control starts in the background ignores it.
                    StartSignalCase{"InterruptInTheBackground", "", "INT", "started\n0\n"}),
    [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace bench::energy
