// bench-energy under a launcher that starts several of it on a node.
#include "energy/fixtures.hpp"
#include "energy/program_fixture.hpp"
#include "support/own_process.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/base/host.hpp>
#include <bench/base/process.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Runs a second meter, of another rank of the same program, under the first one. Its program tells
/// its parent and the file descriptors, the shell that starts it itself.
CommandOutput run_two_ranks(const std::vector<std::string>& options, const std::string& second = "",
                            const Environment& variables = {}) {
  std::string inner = "SLURM_LOCALID=1 SLURM_PROCID=1 " + second + BENCH_ENERGY_PROGRAM;
  for (const std::string& option : options)
    inner += " " + option;
  Environment environment{{"SLURM_LOCALID", "0"},
                          {"SLURM_PROCID", "0"},
                          {"SLURM_STEP_NUM_TASKS", "2"},
                          {"SLURM_JOB_ID", std::to_string(::getpid())},
                          {"SLURM_STEP_ID", "0"}};
  for (const auto& variable : variables)
    environment.push_back(variable);
  return run(metered(options, "sleep 0.1; " + inner + " -- sh -c 'sleep 0.3; echo $PPID'; echo $$"),
             environment);
}

bool has_become_its_program(const CommandOutput& second) {
  const auto lines = csv_cells(second.standard_output);
  return lines.size() == 2 && lines[0] == lines[1];
}

TEST(EnergyRanks, ASourceHasOneReaderOnANode) {
  const CommandOutput output = run_two_ranks(constant_power);
  EXPECT_TRUE(has_become_its_program(output));
  EXPECT_EQ(output.standard_error.find("energy_wh="), output.standard_error.rfind("energy_wh="));
}

TEST(EnergyRanks, ASecondMeterOfOneRankMeasuresOnItsOwn) {
  const CommandOutput output = run_two_ranks(constant_power, "SLURM_LOCALID=0 SLURM_PROCID=0 ");
  EXPECT_FALSE(has_become_its_program(output));
  EXPECT_NE(output.standard_error.find("energy_wh="), output.standard_error.rfind("energy_wh="));
}

TEST(EnergyRanks, EveryRankMeasuresTheDevicesThatNoOtherDoes) {
  const CommandOutput output =
      run_two_ranks({"--method", "nvml,mock:constant=1W"}, "CUDA_VISIBLE_DEVICES=1 ",
                    {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY},
                     {"FAKE_NVML_DEVICES", "2"},
                     {"CUDA_VISIBLE_DEVICES", "0"}});
  EXPECT_FALSE(has_become_its_program(output));
  const auto found = values(output.standard_error);  // of both
  EXPECT_EQ(found.count("energy_nvml_0_gpu_wh"), 1U);
  EXPECT_EQ(found.count("energy_nvml_1_gpu_wh"), 1U);
  EXPECT_EQ(output.standard_error.find("energy_mock_constant_wh"),
            output.standard_error.rfind("energy_mock_constant_wh"));
  EXPECT_THAT(output.standard_error, Not(HasSubstr("warning: mock")));
  EXPECT_THAT(output.standard_error, Not(HasSubstr("warning: nvml")));
}

TEST(EnergyRanks, StrictMindsNoSourceThatAnotherOneReads) {
  const CommandOutput output =
      run_two_ranks({"--strict", "--method", "nvml,mock:constant=1W"}, "CUDA_VISIBLE_DEVICES=1 ",
                    {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY},
                     {"FAKE_NVML_DEVICES", "2"},
                     {"CUDA_VISIBLE_DEVICES", "0"}});
  EXPECT_EQ(output.status.code, 0);
  EXPECT_EQ(values(output.standard_error).count("energy_nvml_1_gpu_wh"), 1U);
}

TEST(EnergyRanks, PerNodeIsOneMeter) {
  const CommandOutput output =
      run_two_ranks({"--per-node", "--method", "nvml"}, "CUDA_VISIBLE_DEVICES=1 ",
                    {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}, {"FAKE_NVML_DEVICES", "2"}});
  EXPECT_TRUE(has_become_its_program(output));
}

/// As with `srun --gpus-per-task=1`.
TEST(EnergyRanks, AMeterOfTheNodeThatDoesNotSeeTheGpusOfOthersSaysSo) {
  const CommandOutput output = run_two_ranks({"--per-node", "--method", "nvml"}, "",
                                             {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY},
                                              {"FAKE_NVML_DEVICES", "2"},
                                              {"CUDA_VISIBLE_DEVICES", "0"},
                                              {"SLURM_STEP_GPUS", "0,1"}});
  EXPECT_THAT(output.standard_error,
              HasSubstr("warning: CUDA_VISIBLE_DEVICES shows this meter 1 of the 2 GPUs of its job "
                        "step on this node; leave --per-node out, so that each rank measures its "
                        "own\n"));
}

TEST(EnergyRanks, RanksDoNotWriteToOneFile) {
  const TemporaryDirectory directory;
  run_two_ranks({"--method", "nvml", "--out", directory.path().string()}, "CUDA_VISIBLE_DEVICES=1 ",
                {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY},
                 {"FAKE_NVML_DEVICES", "2"},
                 {"CUDA_VISIBLE_DEVICES", "0"}});
  for (const std::string rank : {"0", "1"})
    EXPECT_TRUE(std::filesystem::exists(directory.path() /
                                        ("energy." + host_name() + "." + rank + ".csv")));
}

TEST(EnergyRanks, ANeedlessMeterLeavesTheFilesOfTheOther) {
  const TemporaryDirectory directory;
  std::vector<std::string> options = constant_power;
  options.insert(options.end(), {"--suffix", "%h", "--out", directory.path().string()});
  run_two_ranks(options);
  EXPECT_GE(csv_cells(read_file(directory.path() / ("power." + host_name() + ".csv"))).size(), 8U);
}

TEST(EnergyRanks, LeavesNothingBesideItsFiles) {
  const auto count = [] {
    std::ptrdiff_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
      found += entry.path().filename().string().find(std::to_string(::getpid()) + "_0") !=
               std::string::npos;
    return found;
  };
  run_two_ranks(constant_power);
  EXPECT_EQ(count(), 0);
}

/// Two ranks side by side; the meter of the first measures for both. The shell prints how that
/// ended.
CommandOutput run_side_by_side(const std::string& options, const std::string& first,
                               const std::string& second) {
  const TemporaryDirectory directory;
  const std::string meter = std::string(BENCH_ENERGY_PROGRAM) + " " + options + " -- sh -c ";
  ProcessSpec spec;
  spec.directory = directory.path();
  spec.arguments = {"sh", "-c",
                    "(SLURM_LOCALID=0 SLURM_PROCID=0 " + meter + "'touch started; " + first +
                        "'; echo $?; touch over) & while [ ! -e started ]; do sleep 0.01; done; "
                        "SLURM_LOCALID=1 SLURM_PROCID=1 " +
                        meter + "'" + second + "'; wait"};
  return run(spec, {{"SLURM_STEP_NUM_TASKS", "2"},
                    {"SLURM_JOB_ID", std::to_string(::getpid())},
                    {"SLURM_STEP_ID", "1"}});
}

class EndsFirstTest : public testing::TestWithParam<std::string> {};

TEST_P(EndsFirstTest, TheMeterOfARankThatEndsFirstMeasuresOn) {
  if (!support::is_seen_as_it_is())
    GTEST_SKIP() << "a process does not see its start here as others do, so ranks do not meet";
  const CommandOutput output =
      run_side_by_side(GetParam() + "--strict --method mock:constant=100W",
                       "until [ -e second ]; do sleep 0.02; done", "touch second; sleep 1.5");
  EXPECT_EQ(output.standard_output, "0\n");
  const auto found = values(output.standard_error);
  EXPECT_EQ(found.at("energy_quality"), "measured");
  EXPECT_GE(std::stod(found.at("duration_s")), 1.5);
  EXPECT_NEAR(joules(found.at("energy_wh")) / (100 * std::stod(found.at("duration_s"))), 1, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Energy, EndsFirstTest, testing::Values("", "--per-node "),
                         [](const auto& test) { return "Number" + std::to_string(test.index); });

/// What the meter of a node does before its program, while the other rank waits. That one may start
/// from when a file `due` is there.
struct Preparation {
  std::string name;
  std::string before;
  std::string options;
  std::string program;
  std::string then;  ///< What the shell does when the second rank waits, for `$first`, say.
};

class PreparationTest : public testing::TestWithParam<Preparation> {};

TEST_P(PreparationTest, TheOtherRanksWait) {
  const TemporaryDirectory directory;
  const std::string job = std::to_string(::getpid());
  const std::string claim = fmt::format("/dev/shm/bench-energy-{}-{}_2/node", ::getuid(), job);
  const std::string meter = std::string(BENCH_ENERGY_PROGRAM) +
                            " --per-node --method mock:constant=100W " + GetParam().options +
                            " -- sh -c ";
  ProcessSpec spec;
  spec.directory = directory.path();
  spec.arguments = {
      "sh", "-c",
      GetParam().before + "SLURM_LOCALID=0 SLURM_PROCID=0 " + meter + "'" + GetParam().program +
          "' & first=$!; until [ -e " + claim +
          " ]; do sleep 0.01; done; SLURM_LOCALID=1 SLURM_PROCID=1 " + meter +
          "'[ -e due ] && echo in time || echo too early; touch second' & until grep -q '^+' " +
          claim + "; do sleep 0.01; done; " + GetParam().then + "; wait"};
  EXPECT_EQ(
      run(spec, {{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_JOB_ID", job}, {"SLURM_STEP_ID", "2"}})
          .standard_output,
      "in time\n");
}

INSTANTIATE_TEST_SUITE_P(
    Energy, PreparationTest,
    testing::Values(Preparation{"UntilTheProgramStarts", "touch due; ", "--baseline 500ms",
                                "until [ -e second ]; do sleep 0.01; done", "true"},
                    Preparation{"UntilTheMeterEnds", "", "--thermal 60min", "true",
                                "sleep 0.3; touch due; kill -KILL $first"}),
    [](const auto& test) { return test.param.name; });

TEST(EnergyRanks, AFailureIsToldAtOnceAndTheEnergyIsPartial) {
  if (!support::is_seen_as_it_is())
    GTEST_SKIP() << "a process does not see its start here as others do, so ranks do not meet";
  const CommandOutput output = run_side_by_side(
      "--method mock:constant=100W", "until [ -e second ]; do sleep 0.02; done; exit 3",
      "touch second; while [ ! -e over ]; do sleep 0.02; done");
  EXPECT_EQ(output.standard_output, "3\n");
  const auto found = values(output.standard_error);
  EXPECT_EQ(found.at("energy_quality"), "partial");
  EXPECT_THAT(found.at("energy_absent"), HasSubstr("other programs of this node"));
}

}  // namespace
}  // namespace bench::energy
