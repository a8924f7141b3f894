// The real bench-energy with meters of nodes, cards and commands.
#include "energy/fixtures.hpp"
#include "support/patience.hpp"

#include <chrono>
#include <fstream>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <signal.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;

/// What bench-energy says of a run under these options.
struct MeteredRun {
  MeteredRun(std::vector<std::string> options, const std::string& script,
             const Environment& variables = {}) {
    ProcessSpec spec;
    spec.arguments = {BENCH_ENERGY_PROGRAM};
    spec.arguments.insert(spec.arguments.end(), options.begin(), options.end());
    spec.arguments.insert(spec.arguments.end(), {"--", "sh", "-c", script});
    Environment environment = current_environment();
    for (const auto& [name, value] : variables)
      set_variable(environment, name, value);
    spec.environment = environment;
    output = run_command(spec, support::far_too_long_s);
    std::istringstream lines(output.standard_error);
    const std::string prefix = "bench-energy: ";
    for (std::string line; std::getline(lines, line);)
      if (const auto equals = line.find('='); line.starts_with(prefix) && equals != line.npos)
        values[line.substr(prefix.size(), equals - prefix.size())] = line.substr(equals + 1);
  }

  double joules(const std::string& name = "energy_wh") const {
    return std::stod(values.at(name)) * 3600;
  }
  double duration_s() const { return std::stod(values.at("duration_s")); }

  CommandOutput output;
  std::map<std::string, std::string> values;
};

TEST(NodeProgram, ACommandThatEndsMeasuresTheNode) {
  const MeteredRun run({"--method", "command:pdu/100ms=echo 120 W"}, "sleep 0.5");
  EXPECT_NEAR(run.joules() / (120 * run.duration_s()), 1, 0.001);
  EXPECT_EQ(run.values.at("energy_quality"), "measured");
  EXPECT_EQ(run.values.at("energy_source"), "command");
  EXPECT_EQ(run.values.count("energy_command_pdu_wh"), 1U);
}

/// What is shown once per second says nothing about less, and counts once however often it is read.
TEST(NodeProgram, ACommandIsASensorWhosePeriodIsItsInterval) {
  const MeteredRun run({"--method", "command:pdu=echo 120 W"}, "sleep 0.3");
  EXPECT_EQ(run.values.count("energy_wh"), 0U);
  EXPECT_THAT(run.values.at("energy_absent"),
              testing::HasSubstr("too short: at least 20 s, since its sensor shows a new value "
                                 "every 1 s"));
}

TEST(NodeProgram, ACommandThatPrintsOnFollowsItsMeter) {
  // 100 W, and 100 W more for each second since now.
  const auto start_ns =
      std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  const std::string meter = "while :; do echo $((100 + ($(date +%s%N) - " +
                            std::to_string(start_ns) + ") / 10000000)); sleep 0.01; done";
  const TemporaryDirectory directory;
  const MeteredRun run({"--method", "command:ramp/20ms=" + meter, "--interval", "20ms", "--out",
                        directory.path().string()},
                       "sleep 2");
  // How old a sample was when it was taken is up to the machine, but not for all of them.
  std::vector<double> ages_s;
  const auto rows = csv_cells(read_file(directory.path() / "power.csv"));
  for (std::size_t row = 1; row < rows.size(); ++row) {
    const double taken_s = std::stod(rows[row].at(1)) - static_cast<double>(start_ns) / 1e9;
    ages_s.push_back(taken_s - (std::stod(rows[row].at(2)) - 100) / 100);
    EXPECT_GE(ages_s.back(), -0.01);
  }
  ASSERT_GE(ages_s.size(), 4U);
  EXPECT_LT(*std::min_element(ages_s.begin() + static_cast<std::ptrdiff_t>(ages_s.size() / 2),
                              ages_s.end()),
            0.5);
}

TEST(NodeProgram, ACommandThatHangsHoldsNothingUp) {
  const auto before = std::chrono::steady_clock::now();
  const MeteredRun run({"--method", "command:pdu/50ms=echo 120; sleep 600"}, "exit 7");
  EXPECT_EQ(run.output.status.code, 7);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::minutes(5));
}

TEST(NodeProgram, ACommandThatPrintsOnEndsWithAMeterThatIsKilled) {
  const TemporaryDirectory directory;
  const auto pid_file = directory.path() / "pid";
  const MeteredRun run({"--method", "command:pdu=echo $$ > " + pid_file.string() +
                                        "; while :; do echo 120; sleep 0.05; done"},
                       "kill -KILL $PPID");
  EXPECT_EQ(run.output.status.signal, SIGKILL);
  EXPECT_TRUE(has_ended(pid_file));
}

TEST(NodeProgram, ACommandIsGoneWithTheMeter) {
  const TemporaryDirectory directory;
  const auto pid_file = directory.path() / "pid";
  const MeteredRun run(
      {"--method", "command:pdu=echo $$ > " + pid_file.string() + "; echo 120; exec sleep 600"},
      "true");
  EXPECT_TRUE(has_ended(pid_file));
}

/// Ways in which a meter ends whose command has shown nothing yet.
struct EndCase {
  std::string name;
  std::string wait_ready;
  std::string end;  ///< What the shell does with the meter `$!` once the command runs.
};
void PrintTo(const EndCase& c, std::ostream* out) {
  *out << c.name;
}
class SilentCommandTest : public testing::TestWithParam<EndCase> {};

TEST_P(SilentCommandTest, IsGoneWithTheMeterAndWithAllThatItStarted) {
  const TemporaryDirectory directory;
  const std::string command_pid = (directory.path() / "command").string();
  const std::string sleep_pid = (directory.path() / "sleep").string();
  ProcessSpec spec;
  spec.arguments = {"sh", "-c",
                    std::string(BENCH_ENERGY_PROGRAM) + " --wait-ready " + GetParam().wait_ready +
                        " --method 'command:x=sleep 600 & echo $! > " + sleep_pid + "; echo $$ > " +
                        command_pid + "; wait; echo 5' -- sh -c 'until [ -s " + command_pid +
                        " ]; do sleep 0.02; done' & until [ -s " + command_pid +
                        " ]; do sleep 0.02; done; " + GetParam().end + "; wait $!; true"};
  run_command(spec, support::far_too_long_s);
  EXPECT_TRUE(has_ended(command_pid));
  EXPECT_TRUE(has_ended(sleep_pid));
}

INSTANTIATE_TEST_SUITE_P(Ends, SilentCommandTest,
                         testing::Values(EndCase{"WithTheProgram", "0s", "true"},
                                         EndCase{"AfterTheWait", "100ms", "true"},
                                         EndCase{"Terminated", "60min", "kill -TERM $!"},
                                         EndCase{"Killed", "60min", "kill -KILL $!"}),
                         [](const auto& test) { return test.param.name; });

TEST(NodeProgram, AModelOfTheNodeIsAnEstimate) {
  const MeteredRun run({"--method", "model:node=300W..300W"}, "sleep 1");
  EXPECT_NEAR(run.joules() / (300 * run.duration_s()), 1, 0.02);
  EXPECT_EQ(run.values.at("energy_quality"), "estimated");
}

TEST(NodeProgram, PmCountersCountOnceBesideTheGpus) {
  const TemporaryDirectory tree;
  tree.write("cray/pm_counters/power", "650 W");
  tree.write("cray/pm_counters/accel0_power", "200 W");
  const MeteredRun run({"--method", "auto", "--sysfs-root", tree.path().string()}, "sleep 0.3",
                       {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}});
  EXPECT_NEAR(run.joules() / (650 * run.duration_s()), 1, 0.001);
  EXPECT_EQ(run.values.at("energy_source"), "pm_counters");
  EXPECT_EQ(run.values.count("energy_nvml_0_gpu_wh"), 1U);
}

TEST(NodeProgram, IpusAreAddedUp) {
  const Environment fake{{"PYTHONPATH", FAKE_MODULE_DIRECTORY}, {"PYTHONDONTWRITEBYTECODE", "1"}};
  const MeteredRun run({"--method", "gcipu"}, "sleep 0.5", fake);
  EXPECT_NEAR(run.joules() / (460 * run.duration_s()), 1, 0.001);
  EXPECT_EQ(run.values.count("energy_gcipu_3_ipu_wh"), 1U);
}

TEST(NodeProgram, WhatIsNamedAndAbsentSaysWhy) {
  const MeteredRun run({"--method", "ipmi,slurm"}, "true",
                       {{"PATH", "/bin-without-ipmi:/bin:/usr/bin"}, {"SLURM_JOB_ID", ""}});
  EXPECT_THAT(run.values.at("energy_absent"), HasSubstr("ipmi: "));
  EXPECT_THAT(run.values.at("energy_absent"), HasSubstr("slurm: not in a Slurm job"));
}

}  // namespace
}  // namespace bench::energy
