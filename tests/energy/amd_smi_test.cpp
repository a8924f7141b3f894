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
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/amd_devices.hpp>
#include <bench/energy/sources/amd_smi.hpp>

namespace bench::energy {
namespace {

using support::EnvironmentVariable;
using testing::ElementsAre;

std::unique_ptr<PowerSource> open_fake(const std::filesystem::path& sysfs = "/nonexistent",
                                       const AmdVisibility& visibility = {}) {
  return open_amd_smi({std::string(FAKE_NVML_DIRECTORY) + "/libamd_smi.so.26"}, sysfs, visibility);
}

std::string amd_smi_error() {
  return message_of([&] { open_fake(); });
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

TEST(AmdSmi, WhatIsNotThereIsAnAbsence) {
  const EnvironmentVariable none("FAKE_AMDSMI_DEVICES", "0");
  EXPECT_EQ(amd_smi_error(), "AMD SMI shows no device");
  const EnvironmentVariable code("FAKE_AMDSMI_INIT_CODE", "34");
  EXPECT_EQ(amd_smi_error(), "amdsmi_init: Unknown error (AMD SMI code 34)");
  EXPECT_THAT(amd_smi_libraries(), testing::Contains("libamd_smi.so.26"));
}

}  // namespace
}  // namespace bench::energy
