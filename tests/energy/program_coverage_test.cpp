// What the real bench-energy makes of sensors that did not see all of a run.
#include "energy/fixtures.hpp"
#include "energy/program_fixture.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;

struct CoverageCase {
  std::string name;
  Environment fake;  ///< Without its prefix.
  std::string script;
  std::string reason;
};
void PrintTo(const CoverageCase& c, std::ostream* out) {
  *out << c.name;
}
class ProgramCoverageTest : public testing::TestWithParam<CoverageCase> {};

TEST_P(ProgramCoverageTest, WhatWasNotSeenIsNotCalledMeasured) {
  Environment environment{{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}};
  for (const auto& [name, value] : GetParam().fake)
    environment.emplace_back("FAKE_NVML_" + name, value);
  const CommandOutput output =
      run(metered({"--strict", "--method", "nvml", "--interval", "10ms"}, GetParam().script),
          environment);
  EXPECT_EQ(output.status.code, 125);
  const auto found = values(output.standard_error);
  EXPECT_EQ(found.count("energy_wh"), 0U);
  EXPECT_EQ(found.at("energy_quality"), "partial");
  EXPECT_THAT(found.at("energy_absent"), HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(Energy, ProgramCoverageTest,
                         testing::Values(CoverageCase{"ADriverThatDoesNotComeBack",
                                                      {{"SHAPE", "late"}, {"HANG_MS", "450"}},
                                                      "sleep 2",
                                                      "its driver does not answer"},
                                         CoverageCase{"ASensorThatIsUnreadableForAWhile",
                                                      {{"BLIND_FROM_MS", "300"},
                                                       {"BLIND_MS", "850"},
                                                       {"FAIL_CODE", "999"},
                                                       {"NO_COUNTER", "1"}},
                                                      "sleep 1.5",
                                                      "Unknown Error (NVML code 999)"}),
                         [](const auto& test) { return test.param.name; });

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

TEST(EnergyCoverage, AGpuThatCannotBeOpenedIsAHoleInTheTotal) {
  const auto found = values(
      run(metered({"--method", "nvml"}, "sleep 0.5"), {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY},
                                                       {"FAKE_NVML_DEVICES", "2"},
                                                       {"FAKE_NVML_FORBIDDEN", "1"}})
          .standard_error);
  EXPECT_EQ(found.count("energy_wh") + found.count("energy_devices_wh"), 0U);
  EXPECT_EQ(found.at("energy_quality"), "partial");
  EXPECT_EQ(found.at("energy_absent"), "nvml:1:gpu: Insufficient Permissions (NVML code 4)");
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

TEST(EnergyCoverage, OneUnknownErrorIsAGap) {
  const CommandOutput output =
      run(metered({"--strict", "--method", "nvml", "--interval", "10ms"}, "sleep 1.5"),
          {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY},
           {"FAKE_NVML_BLIND_FROM_MS", "500"},
           {"FAKE_NVML_BLIND_MS", "30"},
           {"FAKE_NVML_FAIL_CODE", "999"}});
  EXPECT_EQ(output.status.code, 0) << output.standard_error;
  EXPECT_EQ(values(output.standard_error).at("energy_quality"), "measured");
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
