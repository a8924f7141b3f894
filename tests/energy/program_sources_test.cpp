#include "energy/fixtures.hpp"
#include "energy/program_fixture.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::energy {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// The real bench-energy with meters of nodes, cards and commands.

/// What bench-energy says of a run under these options.
struct MeteredRun {
  MeteredRun(const std::vector<std::string>& options, const std::string& script,
             const Environment& variables = {})
      : output(run(metered(options, script), variables)), values(values_of(output)) {}

  double mean_w() const {
    return joules(values.at("energy_wh")) / std::stod(values.at("duration_s"));
  }

  CommandOutput output;
  std::map<std::string, std::string> values;
};

TEST(NodeProgram, ACommandThatEndsMeasuresTheNode) {
  const MeteredRun run({"--method", "command:pdu/100ms=echo 120 W"}, "sleep 0.5");
  EXPECT_NEAR(run.mean_w() / 120, 1, 0.001);
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
struct MeterEndCase {
  std::string name;
  std::string wait_ready;
  std::string end;  ///< What the shell does with the meter `$!` once the command runs.
};
class SilentCommandTest : public testing::TestWithParam<MeterEndCase> {};

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
  run(spec);
  EXPECT_TRUE(has_ended(command_pid));
  EXPECT_TRUE(has_ended(sleep_pid));
}

INSTANTIATE_TEST_SUITE_P(Ends, SilentCommandTest,
                         testing::Values(MeterEndCase{"WithTheProgram", "0s", "true"},
                                         MeterEndCase{"AfterTheWait", "100ms", "true"},
                                         MeterEndCase{"Terminated", "60min", "kill -TERM $!"},
                                         MeterEndCase{"Killed", "60min", "kill -KILL $!"}),
                         [](const auto& test) { return test.param.name; });

TEST(NodeProgram, AModelOfTheNodeIsAnEstimate) {
  const MeteredRun run({"--method", "model:node=300W..300W"}, "sleep 1");
  EXPECT_NEAR(run.mean_w() / 300, 1, 0.02);
  EXPECT_EQ(run.values.at("energy_quality"), "estimated");
}

TEST(NodeProgram, PmCountersCountOnceBesideTheGpus) {
  const TemporaryDirectory tree;
  tree.write("cray/pm_counters/power", "650 W");
  tree.write("cray/pm_counters/accel0_power", "200 W");
  const MeteredRun run({"--method", "auto", "--sysfs-root", tree.path().string()}, "sleep 0.3",
                       {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}});
  EXPECT_NEAR(run.mean_w() / 650, 1, 0.001);
  EXPECT_EQ(run.values.at("energy_source"), "pm_counters");
  EXPECT_EQ(run.values.count("energy_nvml_0_gpu_wh"), 1U);
}

TEST(NodeProgram, IpusAreAddedUp) {
  const Environment fake{{"PYTHONPATH", FAKE_MODULE_DIRECTORY}, {"PYTHONDONTWRITEBYTECODE", "1"}};
  const MeteredRun run({"--method", "gcipu"}, "sleep 0.5", fake);
  EXPECT_NEAR(run.mean_w() / 460, 1, 0.001);
  EXPECT_EQ(run.values.count("energy_gcipu_3_ipu_wh"), 1U);
}

TEST(NodeProgram, WhatIsNamedAndAbsentSaysWhy) {
  const MeteredRun run({"--method", "ipmi,slurm"}, "true",
                       {{"PATH", "/bin-without-ipmi:/bin:/usr/bin"}, {"SLURM_JOB_ID", ""}});
  EXPECT_THAT(run.values.at("energy_absent"), HasSubstr("ipmi: "));
  EXPECT_THAT(run.values.at("energy_absent"), HasSubstr("slurm: not in a Slurm job"));
}

// The real bench-energy on a node with AMD GPUs, which the fake libraries of tests/fake stand for.

/// What bench-energy says of half a second by a method that comes to the library.
CommandOutput measured_by(const std::string& method, const std::string& setting,
                          const std::string& value) {
  return run(metered({"--method", method, "--sysfs-root", "/nonexistent", "--interval", "5ms"},
                     "sleep 0.5"),
             {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}, {"FAKE_AMDSMI_" + setting, value}});
}

class AmdProgramTest : public testing::TestWithParam<std::string> {};

TEST_P(AmdProgramTest, MeasuresWhatTheLibraryOnThePathShows) {
  const auto found = values_of(measured_by(GetParam(), "POWER_W", "360"));
  EXPECT_EQ(found.at("energy_source"), "amdsmi");
  EXPECT_EQ(found.at("energy_quality"), "measured");
  EXPECT_NEAR(std::stod(found.at("power_mean_w")), 360, 7);
}

INSTANTIATE_TEST_SUITE_P(Energy, AmdProgramTest, testing::Values("amdsmi", "rocm"),
                         [](const auto& test) { return test.param; });

TEST(AmdProgram, SaysWhyItDoesNotUseTheCounter) {
  EXPECT_THAT(
      measured_by("amdsmi", "COUNTER_RATE", "2").standard_error,
      HasSubstr("warning: amdsmi:0:gpu: its counter differs from the integrated power by +"));
}

// A driver that takes long to answer, and several devices.

class SlowDriverTest : public testing::Test {
 protected:
  CommandOutput measure(const std::string& interval, const std::string& call_us, int devices,
                        const std::string& program) const {
    return run(metered({"--method", "nvml", "--interval", interval}, program),
               {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY},
                {"FAKE_NVML_DEVICES", std::to_string(devices)},
                {"FAKE_NVML_CALL_US", call_us},
                {"FAKE_NVML_AT_ONCE", at_once_.string()}});
  }
  const TemporaryDirectory directory_;
  const std::filesystem::path at_once_ = directory_.path() / "at_once";
};

/// The calls take long, so that they overlap on a busy machine, too. The program ends when they do.
TEST_F(SlowDriverTest, IsAskedForAllDevicesAtOnce) {
  const CommandOutput output =
      measure("50ms", "20000", 4, "until grep -q 4 " + at_once_.string() + "; do sleep 0.05; done");
  EXPECT_EQ(output.status.code, 0);
  EXPECT_EQ(read_file(at_once_), "4\n");
  EXPECT_EQ(values(output.standard_error).count("energy_nvml_3_gpu_wh"), 1U);
}

TEST_F(SlowDriverTest, OfOneDeviceIsAskedAsBefore) {
  measure("20ms", "5000", 1, "sleep 0.5");
  EXPECT_EQ(read_file(at_once_), "1\n");
}

TEST_F(SlowDriverTest, SaysThatSamplesCameLateAndWhy) {
  const CommandOutput output = measure("10ms", "40000", 2, "sleep 1");
  EXPECT_THAT(output.standard_error,
              ContainsRegex("nvml: [0-9]+ of [0-9]+ samples came late: its driver takes [0-9.]+ ms "
                            "to answer, and the interval is 10 ms\n"));
}

TEST_F(SlowDriverTest, AQuickOneIsNotBlamed) {
  const CommandOutput output = measure("100ms", "0", 8, "sleep 0.5");
  EXPECT_THAT(output.standard_error, Not(HasSubstr("came late")));
}

// What the real bench-energy makes of sensors that did not see all of a run.

TEST(EnergyCoverage, OfADriverThatDoesNotComeBackTheEnergyIsPartial) {
  const CommandOutput output =
      run(metered({"--strict", "--method", "nvml", "--interval", "10ms"}, "sleep 2"),
          {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY},
           {"FAKE_NVML_SHAPE", "late"},
           {"FAKE_NVML_HANG_MS", "450"}});
  EXPECT_EQ(output.status.code, 125);
  const auto found = values_of(output);
  EXPECT_EQ(found.count("energy_wh"), 0U);
  EXPECT_EQ(found.at("energy_quality"), "partial");
  EXPECT_THAT(found.at("energy_absent"), HasSubstr("its driver does not answer"));
}

TEST(EnergyCoverage, ADeviceThatCannotBeReadIsAHoleInTheTotal) {
  const TemporaryDirectory tree;
  for (const std::string zone : {"0", "1"}) {
    tree.write("class/powercap/intel-rapl:" + zone + "/name", "package-" + zone);
    tree.write("class/powercap/intel-rapl:" + zone + "/max_energy_range_uj", "262143328850");
  }
  tree.write("class/powercap/intel-rapl:0/energy_uj", "1000");
  const auto unreadable = tree.path() / "class/powercap/intel-rapl:1/energy_uj";
  std::filesystem::create_directories(unreadable);  // what even root cannot read
  const std::string counter = (tree.path() / "class/powercap/intel-rapl:0/energy_uj").string();
  const CommandOutput output = run(metered(
      {"--strict", "--method", "rapl", "--interval", "10ms", "--sysfs-root", tree.path().string()},
      "for k in 1 2 3 4 5 6; do echo ${k}000000 > " + counter + "; sleep 0.1; done"));
  EXPECT_EQ(output.status.code, 125);
  const auto found = values(output.standard_error);
  EXPECT_EQ(found.count("energy_wh"), 0U);
  EXPECT_EQ(found.count("energy_rapl_package_0_wh"), 1U);
  EXPECT_EQ(found.at("energy_quality"), "partial");
  EXPECT_THAT(found.at("energy_absent"),
              HasSubstr("rapl:package-1: cannot read " + unreadable.string()));
}

TEST(EnergyCoverage, AGpuOfWhichTheProgramHasAnInstanceIsInNoTotal) {
  const auto found = values(run(metered({"--method", "nvml,mock:constant=100W"}, "sleep 0.5"),
                                {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY},
                                 {"FAKE_NVML_DEVICES", "2"},
                                 {"CUDA_VISIBLE_DEVICES", "MIG-fake"}})
                                .standard_error);
  EXPECT_NEAR(std::stod(found.at("power_mean_w")), 100, 0.1);
  EXPECT_EQ(found.at("energy_source"), "mock");
  EXPECT_EQ(found.count("energy_devices_wh"), 0U);
  EXPECT_EQ(found.at("energy_shared"),
            "nvml:1:gpu measures more than the program's part of the device");
}

/// A meter that is stopped while its program runs.
class StoppedMeterTest : public testing::Test {
 protected:
  /// @param meanwhile with the meter stopped; the program ends once the file `go` is there
  std::map<std::string, std::string> run_stopped(const std::function<void()>& meanwhile) {
    ProcessSpec spec =
        metered({"--method", "mock:constant=100W", "--interval", "10ms"},
                "echo $$ > pid; touch ready; while [ ! -e go ]; do sleep 0.01; done");
    const auto errors = directory_.path() / "errors";
    const UniqueFd file(::open(errors.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    spec.stderr_fd = file.get();
    spec.directory = directory_.path();
    Process meter(spec);
    EXPECT_TRUE(
        support::eventually([&] { return std::filesystem::exists(directory_.path() / "ready"); }));
    ::kill(meter.pid(), SIGSTOP);
    EXPECT_TRUE(support::eventually([&] {
      const std::string stat = read_file("/proc/" + std::to_string(meter.pid()) + "/stat");
      return stat.find(") T") != std::string::npos;
    }));
    meanwhile();
    ::kill(meter.pid(), SIGCONT);
    directory_.write("go", "");
    EXPECT_EQ(meter.wait().code, 0);
    return values(read_file(errors));
  }

  TemporaryDirectory directory_;
};

TEST_F(StoppedMeterTest, SaysForHowLongItDidNotRun) {
  const auto found =
      run_stopped([] { std::this_thread::sleep_for(std::chrono::milliseconds(1500)); });
  EXPECT_THAT(found.at("energy_paused"), testing::StartsWith("the meter did not run for "));
}

TEST_F(StoppedMeterTest, DoesNotCountWhatCameAfterTheEndOfTheProgram) {
  const auto found = run_stopped([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    directory_.write("go", "");
    ASSERT_TRUE(has_ended(directory_.path() / "pid"));
  });
  EXPECT_EQ(found.count("energy_wh") + found.count("duration_s"), 0U);
  EXPECT_EQ(found.at("energy_quality"), "partial");
  EXPECT_THAT(found.at("energy_absent"),
              testing::StartsWith("the meter was stopped when the program ended, between "));
}

TEST(EnergyCoverage, AProgramThatIsOverBeforeASensorMovesHasNoEnergy) {
  const TemporaryDirectory tree;
  tree.write("cray/pm_counters/power", "650 W 1700000000000000 us");
  tree.write("cray/pm_counters/energy", "123456 J 1700000000000000 us");
  ProcessSpec spec;
  spec.arguments = {BENCH_ENERGY_PROGRAM, "--method", "pm_counters", "--sysfs-root",
                    tree.path().string(), "--",       "true"};
  const auto found = values(run(spec).standard_error);
  EXPECT_EQ(found.count("energy_wh"), 0U);
  EXPECT_EQ(found.at("energy_quality"), "none");
}

}  // namespace
}  // namespace bench::energy
