#include "energy/fixtures.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/sources/cpu_watch.hpp>

namespace bench::energy {
namespace {

TEST(NodeCpuTime, AddsWhatIsNeitherIdleNorWaiting) {
  const auto time = node_cpu_time(
      "cpu  100 20 30 4000 500 6 7 8 0 0\n"
      "cpu0 50 10 15 2000 250 3 4 4 0 0\n"
      "cpu1 50 10 15 2000 250 3 3 4 0 0\n"
      "intr 1 2 3\n",
      100);
  ASSERT_TRUE(time);
  EXPECT_DOUBLE_EQ(time->busy_s, 1.71);
  EXPECT_EQ(time->cpus, 2);
}

TEST(NodeCpuTime, IsAbsentWhereTheKernelShowsNone) {
  EXPECT_FALSE(node_cpu_time("", 100));
}

struct GroupCase {
  std::string name;
  std::string cgroups;
  std::string file;
};
class ControlGroupTest : public testing::TestWithParam<GroupCase> {};

TEST_P(ControlGroupTest, IsThatOfTheWholeJob) {
  EXPECT_EQ(cpu_file_of_job(GetParam().cgroups, "/sys"), GetParam().file);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, ControlGroupTest,
    testing::Values(
        GroupCase{"Version2", "0::/system.slice/slurmstepd.scope/job_123/step_0/user/task_0\n",
                  "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_123/cpu.stat"},
        GroupCase{
            "Version1",
            "5:memory:/slurm/uid_7/job_123/step_0\n3:cpu,cpuacct:/slurm/uid_7/job_123/step_0\n"
            "0::/system.slice\n",
            "/sys/fs/cgroup/cpu,cpuacct/slurm/uid_7/job_123/cpuacct.usage"},
        GroupCase{"OutsideOfAJob", "0::/user.slice/user-1000.slice\n", ""}),
    [](const auto& test) { return test.param.name; });

TEST(OwnCpuTime, OfAJobIsThatOfItsControlGroup) {
  const TemporaryDirectory root;
  root.write("proc/self/cgroup", "0::/slurm/job_1/step_0");
  root.write("sys/fs/cgroup/slurm/job_1/cpu.stat", "usage_usec 2500000");
  const OwnCpuTime own(root.path() / "proc", root.path() / "sys", true);
  EXPECT_EQ(own.read_s(), 2.5);
}

TEST(OwnCpuTime, OfAJobWithoutAControlGroupIsUnknown) {
  const TemporaryDirectory root;
  root.write("proc/self/cgroup", "0::/user.slice");
  EXPECT_FALSE(OwnCpuTime(root.path() / "proc", root.path() / "sys", true).read_s());
}

class CpuSensorsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string cpu : {"0", "1"}) {
      root_.write("devices/system/cpu/cpufreq/policy" + cpu + "/scaling_governor", "performance");
      root_.write("devices/system/cpu/cpufreq/policy" + cpu + "/scaling_cur_freq",
                  cpu == "0" ? "2000000" : "3000000");
      root_.write("devices/system/cpu/cpu" + cpu + "/topology/physical_package_id", "0");
      root_.write("devices/system/cpu/cpu" + cpu + "/thermal_throttle/package_throttle_count", "5");
    }
    root_.write("class/hwmon/hwmon0/name", "nvme");
    root_.write("class/hwmon/hwmon0/temp1_input", "70000");
    root_.write("class/hwmon/hwmon1/name", "k10temp");
    root_.write("class/hwmon/hwmon1/temp1_input", "41500");
  }

  CpuState watched() {
    CpuSensors sensors(root_.path());
    CpuState state;
    sensors.read(state);
    root_.write("class/hwmon/hwmon1/temp1_input", "63000");
    root_.write("devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "8");
    sensors.read(state);
    sensors.close(state);
    return state;
  }

  TemporaryDirectory root_;
};

TEST_F(CpuSensorsTest, ShowsGovernorClocksAndTemperatures) {
  const CpuState state = watched();
  EXPECT_EQ(state.governor, "performance");
  EXPECT_DOUBLE_EQ(state.clock_mhz.mean(), 2500);
  EXPECT_DOUBLE_EQ(state.clock_mhz.least, 2000);
  EXPECT_DOUBLE_EQ(state.temperature_c.first, 41.5);
  EXPECT_DOUBLE_EQ(state.temperature_c.most, 63);
}

TEST_F(CpuSensorsTest, CountsThrottlingOncePerPackage) {
  EXPECT_EQ(watched().throttled, 3U);
}

TEST_F(CpuSensorsTest, NamesEveryGovernor) {
  root_.write("devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave");
  EXPECT_EQ(watched().governor, "performance,powersave");
}

TEST(CpuSensors, WhatAVirtualMachineDoesNotShowIsAbsent) {
  const TemporaryDirectory empty;
  CpuSensors sensors(empty.path());
  CpuState state;
  sensors.read(state);
  sensors.close(state);
  EXPECT_EQ(state.governor, "");
  EXPECT_EQ(state.clock_mhz.count + state.temperature_c.count, 0U);
  EXPECT_FALSE(state.throttled);
}

}  // namespace
}  // namespace bench::energy
