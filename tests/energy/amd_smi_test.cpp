#include "energy/fixtures.hpp"
#include "support/environment_variable.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/amd.hpp>
#include <bench/energy/sources/amd_devices.hpp>

namespace bench::energy {
namespace {

using support::EnvironmentVariable;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<PowerSource> open_fake(const std::filesystem::path& sysfs = "/nonexistent",
                                       const AmdVisibility& visibility = {}) {
  return open_amd_smi({std::string(FAKE_NVML_DIRECTORY) + "/libamd_smi.so.26"}, sysfs, visibility);
}

std::string amd_smi_error(const AmdVisibility& visibility = {}) {
  return message_of([&] { open_fake("/nonexistent", visibility); });
}

/// What the meter makes of 60 readings over 0.3 s and more.
ChannelEnergy measured(PowerSource& source) {
  ChannelMeter meter(source.channels()[0], 0.005);
  const auto start = std::chrono::steady_clock::now();
  double time_s = 0;
  for (int i = 0; i < 60; ++i) {
    const Reading reading = first_reading(source);
    time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    meter.add(time_s, reading);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  meter.close(time_s);
  return meter.result();
}

struct VersionCase {
  std::string name;
  std::string version;
  std::string minor;
};
void PrintTo(const VersionCase& c, std::ostream* out) {
  *out << c.name;
}
class AmdSmiVersionTest : public testing::TestWithParam<VersionCase> {};

TEST_P(AmdSmiVersionTest, ReadsPowerAtThePlaceOfItsLayout) {
  const EnvironmentVariable version("FAKE_AMDSMI_VERSION", GetParam().version);
  const EnvironmentVariable minor("FAKE_AMDSMI_MINOR", GetParam().minor);
  for (const char* kind : {"current", "average"}) {
    const EnvironmentVariable power("FAKE_AMDSMI_POWER", kind);
    EXPECT_DOUBLE_EQ(*first_reading(*open_fake()).power_w, 250) << kind;
  }
}

INSTANTIATE_TEST_SUITE_P(Energy, AmdSmiVersionTest,
                         testing::Values(VersionCase{"Rocm6_2", "24", "6"},
                                         VersionCase{"Rocm6_4", "25", "3"},
                                         VersionCase{"Rocm7_0", "26", "0"},
                                         VersionCase{"Rocm7_1", "26", "2"}),
                         [](const auto& test) { return test.param.name; });

TEST(AmdSmi, OfALayoutThatIsNotKnownPowerComesFromTheCounter) {
  const EnvironmentVariable version("FAKE_AMDSMI_VERSION", "24");
  const EnvironmentVariable minor("FAKE_AMDSMI_MINOR", "7");
  const EnvironmentVariable wrong("FAKE_AMDSMI_POWER_W", "300");
  const auto source = open_fake();
  EXPECT_FALSE(first_reading(*source).power_w);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_NEAR(*first_reading(*source).power_w, 300, 0.3);
}

TEST(AmdSmi, AnUnknownVersionIsRefused) {
  const EnvironmentVariable version("FAKE_AMDSMI_VERSION", "27");
  EXPECT_EQ(amd_smi_error(), "AMD SMI 27.6 is not known, only 24 to 26 are");
  const EnvironmentVariable older("FAKE_AMDSMI_VERSION", "23");
  EXPECT_EQ(amd_smi_error(), "AMD SMI 23.6 is not known, only 24 to 26 are");
}

TEST(AmdSmi, UnsupportedPowerIsNoPower) {
  const EnvironmentVariable power("FAKE_AMDSMI_POWER", "none");
  const auto source = open_fake();
  first_reading(*source);
  EXPECT_TRUE(first_reading(*source).energy_j);
  const EnvironmentVariable no_counter("FAKE_AMDSMI_NO_COUNTER", "1");
  EXPECT_EQ(amd_smi_error(), "amdsmi:0:gpu: 0000:c1:00.0 shows neither power nor energy");
}

TEST(AmdSmi, TheStatusOfThePowerLimitDoesNotSpoilThePower) {
  const EnvironmentVariable code("FAKE_AMDSMI_POWER_CODE", "2");
  EXPECT_DOUBLE_EQ(*first_reading(*open_fake()).power_w, 250);
}

TEST(AmdSmi, CountsInTheTrueUnitNotInTheOneThatItTells) {
  const EnvironmentVariable start("FAKE_AMDSMI_COUNTER_J", "1e9");
  EXPECT_NEAR(*first_reading(*open_fake()).energy_j / 1e9, 1, 1e-5);
}

TEST(AmdSmi, FindsWhatSysfsKnowsOfADevice) {
  const TemporaryDirectory tree;
  tree.write("bus/pci/devices/0000:c2:00.0/unique_id", "00000000000000b2");
  const EnvironmentVariable devices("FAKE_AMDSMI_DEVICES", "2");
  const auto source = open_fake(tree.path(), {.rocr = "GPU-b2"});
  ASSERT_EQ(source->channels().size(), 1U);
  EXPECT_EQ(source->channels()[0].name, "amdsmi:1:gpu");
  EXPECT_EQ(source->channels()[0].description, "AMD GPU 0000:c2:00.0 GPU-00000000000000b2");
  EXPECT_THAT(source->channels()[0].pci_addresses, ElementsAre("0000:c2:00.0"));
}

TEST(AmdSmi, ALostDeviceFailsWithItsReason) {
  const EnvironmentVariable power("FAKE_AMDSMI_POWER", "none");
  const EnvironmentVariable limit("FAKE_AMDSMI_FAIL_AFTER", "1");
  const Reading reading = first_reading(*open_fake());
  EXPECT_FALSE(reading.power_w || reading.energy_j);
  EXPECT_EQ(reading.failure, "Not found (AMD SMI code 31)");
}

TEST(AmdSmi, WithoutACounterHasPowerOnly) {
  const EnvironmentVariable no_counter("FAKE_AMDSMI_NO_COUNTER", "1");
  const auto source = open_fake();
  const Reading reading = first_reading(*source);
  EXPECT_TRUE(reading.power_w);
  EXPECT_FALSE(reading.energy_j);
  EXPECT_EQ(reading.failure, "");
  EXPECT_DOUBLE_EQ(source->channels()[0].counter_period_s, 0);
}

TEST(AmdSmi, OfAnMi250TheFirstDieShowsBoth) {
  const TemporaryDirectory tree;
  for (const char* address : {"0000:c3:00.0", "0000:c4:00.0"})
    tree.write(std::string("bus/pci/devices/") + address + "/device", "0x740c");
  const EnvironmentVariable devices("FAKE_AMDSMI_DEVICES", "4");
  const EnvironmentVariable dies("FAKE_AMDSMI_DIES", "2");
  const auto source = open_fake(tree.path(), {.rocr = "3"});
  ASSERT_EQ(source->channels().size(), 1U);
  EXPECT_EQ(source->channels()[0].name, "amdsmi:2+3:gpu");
  EXPECT_DOUBLE_EQ(*first_reading(*source).power_w, 250);
  EXPECT_THAT(source->notes(), Contains(HasSubstr("of which the program has only a part")));
}

TEST(AmdSmi, ADeviceWithoutAnAddressIsAHoleInTheSum) {
  const EnvironmentVariable devices("FAKE_AMDSMI_DEVICES", "2");
  const EnvironmentVariable unknown("FAKE_AMDSMI_UNKNOWN", "1");
  const auto source = open_fake();
  EXPECT_THAT(names(*source), ElementsAre("amdsmi:0:gpu"));
  EXPECT_THAT(source->notes(), ElementsAre("amdsmi device 1: Not found (AMD SMI code 31)"));
  ASSERT_EQ(source->unreadable().size(), 1U);
  EXPECT_EQ(source->unreadable()[0].name, "amdsmi:device 1");
  EXPECT_EQ(source->unreadable()[0].unreadable, "Not found (AMD SMI code 31)");
}

TEST(AmdSmi, ACounterAtAWrongRateIsNotUsedAndTheResultSaysWhy) {
  const EnvironmentVariable rate("FAKE_AMDSMI_COUNTER_RATE", "1.7");
  const ChannelEnergy result = measured(*open_fake());
  EXPECT_EQ(result.energy_j, result.energy_integrated_j);
  EXPECT_NEAR(*result.difference_percent, 70, 15);
  EXPECT_THAT(result.distrust, HasSubstr("its counter differs from the integrated power by +"));
}

TEST(AmdSmi, ACounterThatStandsStillIsNotUsed) {
  const EnvironmentVariable rate("FAKE_AMDSMI_COUNTER_RATE", "0");
  const ChannelEnergy result = measured(*open_fake());
  EXPECT_FALSE(result.energy_counter_j);
  EXPECT_NEAR(*result.power_mean_w, 250, 0.25);
}

TEST(AmdSmi, AResetOfTheCounterLeavesTheIntegral) {
  const EnvironmentVariable reset("FAKE_AMDSMI_RESET_J", "20");
  const ChannelEnergy result = measured(*open_fake());
  EXPECT_FALSE(result.energy_counter_j);
  EXPECT_NEAR(*result.power_mean_w, 250, 0.25);
}

TEST(AmdSmi, ACounterOf32BitsGoesOn) {
  const EnvironmentVariable start("FAKE_AMDSMI_COUNTER_J", "65516");
  const EnvironmentVariable wrap("FAKE_AMDSMI_WRAP_J", "65536");
  const ChannelEnergy result = measured(*open_fake());
  EXPECT_NEAR(*result.energy_counter_j / *result.energy_integrated_j, 1, 0.1);
}

TEST(AmdSmi, ADeviceThatIsLostDuringTheRunHasNoEnergy) {
  const EnvironmentVariable gone("FAKE_AMDSMI_GONE_MS", "200");
  const ChannelEnergy result = measured(*open_fake());
  EXPECT_FALSE(result.energy_j);
  EXPECT_THAT(result.absent, HasSubstr("Not found (AMD SMI code 31)"));
}

TEST(AmdSmi, APassingErrorIsAFailedReadingOfTheCounterOnly) {
  const EnvironmentVariable limit("FAKE_AMDSMI_FAIL_AFTER", "1");  // the first is at the start
  const EnvironmentVariable code("FAKE_AMDSMI_FAIL_CODE", "30");
  const Reading reading = first_reading(*open_fake());
  EXPECT_TRUE(reading.power_w);
  EXPECT_FALSE(reading.energy_j);
  EXPECT_EQ(reading.failure, "Device busy (AMD SMI code 30)");
}

TEST(AmdSmi, WhatIsNotThereIsAnAbsence) {
  EXPECT_EQ(amd_smi_error({.rocr = ""}), "the program sees none of 1 AMD GPUs");
  const EnvironmentVariable none("FAKE_AMDSMI_DEVICES", "0");
  EXPECT_EQ(amd_smi_error(), "AMD SMI shows no device");
  const EnvironmentVariable code("FAKE_AMDSMI_INIT_CODE", "34");
  EXPECT_EQ(amd_smi_error(), "amdsmi_init: Unknown error (AMD SMI code 34)");
  EXPECT_THAT(message_of([] { open_amd_smi({"libbench-no-such.so"}, "/nonexistent", {}); }),
              HasSubstr("no AMD SMI: libbench-no-such.so: cannot open"));
}

TEST(AmdSmi, IsLookedForWhereTheUserSaysThenByTheLoaderThenWhereItIsInstalled) {
  const TemporaryDirectory opt;
  const std::string root = opt.path().string();
  EXPECT_THAT(amd_smi_libraries({}, opt.path()),
              ElementsAre("libamd_smi.so.26", "libamd_smi.so.25", "libamd_smi.so.24",
                          "libamd_smi.so", root + "/rocm/lib/libamd_smi.so"));
  for (const char* version : {"rocm-6.4.1", "rocm-6.10.0", "rocm-5.7.1"})
    opt.write(std::string(version) + "/lib/x", "");
  EXPECT_THAT(amd_smi_libraries("/site/rocm", opt.path()),
              ElementsAre("/site/rocm/lib/libamd_smi.so", "libamd_smi.so.26", "libamd_smi.so.25",
                          "libamd_smi.so.24", "libamd_smi.so", root + "/rocm/lib/libamd_smi.so",
                          root + "/rocm-6.10.0/lib/libamd_smi.so"));
}

}  // namespace
}  // namespace bench::energy
