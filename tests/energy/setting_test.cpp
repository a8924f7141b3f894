#include "energy/fixtures.hpp"
#include "support/environment_variable.hpp"

#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <bench/energy/sources/setting.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {
namespace {

constexpr const char* governor_of_0 = "devices/system/cpu/cpufreq/policy0/scaling_governor";
constexpr const char* governor_of_1 = "devices/system/cpu/cpufreq/policy1/scaling_governor";

class GovernorTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string policy : {"0", "1"})
      root_.write("devices/system/cpu/cpufreq/policy" + policy + "/scaling_available_governors",
                  "performance powersave");
    root_.write(governor_of_0, "powersave");
    root_.write(governor_of_1, "performance");
  }

  TemporaryDirectory root_;
};

TEST_F(GovernorTest, IsSetOnEveryCpuAndRestoredToWhatEachHad) {
  Settings settings = cpu_settings("performance", root_.path());
  set_all(settings);
  EXPECT_EQ(first_line(root_.path() / governor_of_0), "performance");
  EXPECT_EQ(first_line(root_.path() / governor_of_1), "performance");
  EXPECT_TRUE(restore_all(settings).empty());
  EXPECT_EQ(first_line(root_.path() / governor_of_0), "powersave");
  EXPECT_EQ(first_line(root_.path() / governor_of_1), "performance");
}

TEST_F(GovernorTest, ThatOneCpuDoesNotHaveLeavesAllAsTheyWere) {
  root_.write("devices/system/cpu/cpufreq/policy1/scaling_available_governors", "powersave");
  Settings settings = cpu_settings("performance", root_.path());
  EXPECT_EQ(message_and_hint_of([&] { set_all(settings); }),
            "policy1 has no governor 'performance' | available: powersave");
  EXPECT_EQ(first_line(root_.path() / governor_of_0), "powersave");
}

TEST(Governor, OfAMachineWithoutAnyIsRefused) {
  const TemporaryDirectory empty;
  EXPECT_EQ(
      message_and_hint_of([&] { cpu_settings("performance", empty.path()); }),
      "no CPU has a governor: " + empty.path().string() +
          "/devices/system/cpu/cpufreq is empty | virtual machines have none; remove cpu_governor");
}

class GpuSettingTest : public testing::Test {
 protected:
  std::string shown(const std::string& file) { return first_line(root_.path() / file); }

  TemporaryDirectory root_;
  support::EnvironmentVariable devices_{"FAKE_NVML_DEVICES", "2"};
  support::EnvironmentVariable allowed_{"FAKE_NVML_SETTINGS", root_.path().string()};
};

Settings fake_gpu_settings(const WantedSettings& wanted) {
  return nvidia_settings(wanted, {{std::string(FAKE_NVML_DIRECTORY) + "/libnvidia-ml.so.1"}});
}

TEST_F(GpuSettingTest, AGpuThatMayNotBeThatOfTheProgramIsNotSet) {
  const support::EnvironmentVariable display("FAKE_NVML_PRODUCT_0", "Fake T400");
  EXPECT_EQ(message_and_hint_of([] {
              nvidia_settings({.gpu_power_limit_w = 300},
                              {{std::string(FAKE_NVML_DIRECTORY) + "/libnvidia-ml.so.1"}, "0"});
            }),
            "CUDA_VISIBLE_DEVICES=0 may select other GPUs for the program: they are not all alike, "
            "and CUDA counts the fastest first | export CUDA_DEVICE_ORDER=PCI_BUS_ID");
}

TEST_F(GpuSettingTest, APowerLimitIsSetOnEveryGpuAndRestoredToWhatWasSetBefore) {
  root_.write("power_limit0", "500000");
  Settings settings = fake_gpu_settings({.gpu_power_limit_w = 300});
  set_all(settings);
  EXPECT_EQ(shown("power_limit0"), "300000");
  EXPECT_EQ(shown("power_limit1"), "300000");
  EXPECT_TRUE(restore_all(settings).empty());
  EXPECT_EQ(shown("power_limit0"), "500000");
  EXPECT_EQ(shown("power_limit1"), "700000");  // the driver's own
}

TEST_F(GpuSettingTest, ClocksAreLockedAndUnlocked) {
  const support::EnvironmentVariable clock("FAKE_NVML_CLOCK_MHZ", "1200");
  Settings settings = fake_gpu_settings({.gpu_clock_mhz = 1200});
  set_all(settings);
  EXPECT_EQ(shown("clocks1"), "1200 1200");
  EXPECT_TRUE(restore_all(settings).empty());
  EXPECT_EQ(shown("clocks1"), "free");
}

TEST_F(GpuSettingTest, AClockThatTheGpuDoesNotKeepIsRefused) {
  const support::EnvironmentVariable clock("FAKE_NVML_CLOCK_MHZ", "1980");
  Settings settings = fake_gpu_settings({.gpu_clock_mhz = 1200});
  EXPECT_EQ(message_of([&] { set_all(settings); }),
            "the clock of GPU 0 is 1980 MHz after it was locked at 1200 MHz");
  EXPECT_EQ(shown("clocks0"), "free");
}

TEST_F(GpuSettingTest, ALimitOutOfRangeIsRefusedWithTheRange) {
  Settings settings = fake_gpu_settings({.gpu_power_limit_w = 100});
  EXPECT_EQ(message_and_hint_of([&] { set_all(settings); }),
            "100 W is out of range for the power limit of GPU 0 | 200 W to 700 W");
}

TEST_F(GpuSettingTest, ALimitThatTheDriverDoesNotTakeIsRefused) {
  const support::EnvironmentVariable shown_limit("FAKE_NVML_LIMIT_SHOWN_MW", "450000");
  Settings settings = fake_gpu_settings({.gpu_power_limit_w = 300});
  EXPECT_EQ(message_of([&] { set_all(settings); }),
            "the power limit of GPU 0 is 450 W after it was set to 300 W");
}

class AmdSettingTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string card : {"0", "1"}) {
      const std::string device = "class/drm/card" + card + "/device/";
      root_.write(device + "vendor", "0x1002");
      root_.write(device + "uevent", "PCI_SLOT_NAME=0000:c" + card + ":00.0");
      root_.write(device + "hwmon/hwmon3/power1_cap", "560000000");
      root_.write(device + "hwmon/hwmon3/power1_cap_min", "0");
      root_.write(device + "hwmon/hwmon3/power1_cap_max", "560000000");
    }
  }

  std::string cap(const std::string& card) {
    return first_line(root_.path() / ("class/drm/card" + card + "/device/hwmon/hwmon3/power1_cap"));
  }

  TemporaryDirectory root_;
  support::EnvironmentVariable visible_{"ROCR_VISIBLE_DEVICES", "1"};
};

TEST_F(AmdSettingTest, APowerLimitIsThatOfTheGpusThatTheProgramSees) {
  Settings settings = gpu_settings({.gpu_power_limit_w = 300}, {}, root_.path());
  set_all(settings);
  EXPECT_EQ(cap("0"), "560000000");
  EXPECT_EQ(cap("1"), "300000000");
  EXPECT_TRUE(restore_all(settings).empty());
  EXPECT_EQ(cap("1"), "560000000");
}

TEST_F(AmdSettingTest, ALimitOutOfRangeIsRefusedWithTheRange) {
  Settings settings = gpu_settings({.gpu_power_limit_w = 600}, {}, root_.path());
  EXPECT_EQ(message_and_hint_of([&] { set_all(settings); }),
            "600 W is out of range for the power limit of GPU 0000:c1:00.0 | 0 W to 560 W");
}

TEST_F(AmdSettingTest, AClockIsRefused) {
  EXPECT_EQ(message_of([&] {
              gpu_settings({.gpu_power_limit_w = 300, .gpu_clock_mhz = 1000}, {}, root_.path());
            }),
            "the clock of an AMD GPU cannot be set");
}

/// Of a machine that has no NVIDIA driver, whatever this one has.
Settings settings_without_nvidia(const WantedSettings& wanted, const std::filesystem::path& sysfs) {
  return gpu_settings(wanted, {{"no-such-library.so"}}, sysfs);
}

TEST_F(AmdSettingTest, WhatAnAmdGpuLacksIsNotLookedForAtNvidia) {
  EXPECT_EQ(message_of([&] { settings_without_nvidia({.gpu_clock_mhz = 1000}, root_.path()); }),
            "the clock of an AMD GPU cannot be set");
  const support::EnvironmentVariable none("ROCR_VISIBLE_DEVICES", "7");
  EXPECT_EQ(message_and_hint_of(
                [&] { settings_without_nvidia({.gpu_power_limit_w = 300}, root_.path()); }),
            "no AMD GPU that the program sees has a power limit | check ROCR_VISIBLE_DEVICES and "
            "HIP_VISIBLE_DEVICES, or remove gpu_power_limit");
}

TEST_F(GpuSettingTest, WithoutPermissionIsRefusedInWords) {
  const support::EnvironmentVariable forbidden("FAKE_NVML_SETTINGS", std::nullopt);
  Settings settings = fake_gpu_settings({.gpu_power_limit_w = 300});
  EXPECT_EQ(message_and_hint_of([&] { set_all(settings); }),
            "cannot set the power limit of GPU 0: Insufficient Permissions (NVML code 4) | this "
            "needs root or an administrator's permission; remove the setting, or ask the site for "
            "nodes on which jobs may change it");
}

}  // namespace
}  // namespace bench::energy
