#include "energy/fixtures.hpp"

#include <string>

#include <gtest/gtest.h>

#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/sources/cpu_watch.hpp>

namespace bench::energy {
namespace {

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
