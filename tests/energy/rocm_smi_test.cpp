#include "energy/fixtures.hpp"
#include "support/environment_variable.hpp"

#include <chrono>
#include <cmath>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/amd_devices.hpp>
#include <bench/energy/sources/rocm_smi.hpp>

namespace bench::energy {
namespace {

using support::EnvironmentVariable;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<PowerSource> open_fake(const AmdVisibility& visibility = {}) {
  return open_rocm_smi({std::string(FAKE_NVML_DIRECTORY) + "/librocm_smi64.so.7"}, visibility);
}

std::string rocm_smi_error(const AmdVisibility& visibility = {}) {
  return message_of([&] { open_fake(visibility); });
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

TEST(RocmSmi, IdentifiesDevicesByAddressAndUniqueId) {
  const EnvironmentVariable devices("FAKE_ROCM_DEVICES", "2");
  const auto source = open_fake();
  ASSERT_EQ(source->channels().size(), 2U);
  EXPECT_EQ(source->channels()[1].name, "rocm:1:gpu");
  EXPECT_EQ(source->channels()[1].description, "Fake Instinct 0000:c2:00.0 GPU-00000000000000a1");
  EXPECT_THAT(source->channels()[1].pci_addresses, ElementsAre("0000:c2:00.0"));
}

struct PowerCase {
  std::string call;
};
void PrintTo(const PowerCase& c, std::ostream* out) {
  *out << c.call;
}
class RocmPowerTest : public testing::TestWithParam<PowerCase> {};

TEST_P(RocmPowerTest, IsReadByTheCallThatAnswers) {
  const EnvironmentVariable call("FAKE_ROCM_POWER", GetParam().call);
  EXPECT_DOUBLE_EQ(*first_reading(*open_fake()).power_w, 250);
}

INSTANTIATE_TEST_SUITE_P(Energy, RocmPowerTest,
                         testing::Values(PowerCase{"power"}, PowerCase{"current"},
                                         PowerCase{"average"}),
                         [](const auto& test) { return test.param.call; });

TEST(RocmSmi, CountsInTheTrueUnitNotInTheOneThatItTells) {
  const EnvironmentVariable start("FAKE_ROCM_COUNTER_J", "1e9");
  const double energy_j = *first_reading(*open_fake()).energy_j;
  EXPECT_NEAR(energy_j / 1e9, 1, 1e-5);  // 15.3 uJ would make it 1.0027
}

TEST(RocmSmi, EnergyOfARampIsItsClosedForm) {
  const EnvironmentVariable shape("FAKE_ROCM_SHAPE", "ramp");
  const EnvironmentVariable start("FAKE_ROCM_COUNTER_J", "1000");
  const auto source = open_fake();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const Reading first = first_reading(*source);
  const Reading second = first_reading(*source);
  // E = 100 W * t + 25 W/s * t^2 tells when the energy was counted, and so the power at that time,
  // which lies between the power that was read before and the one that was read after it.
  const double t = (std::sqrt(10000 + 100 * (*first.energy_j - 1000)) - 100) / 50;
  EXPECT_GE((100 + 50 * t) / *first.power_w, 0.999);
  EXPECT_LE((100 + 50 * t) / *second.power_w, 1.001);
}

TEST(RocmSmi, WithoutPowerTakesItFromTheCounter) {
  const EnvironmentVariable power("FAKE_ROCM_POWER", "none");
  const auto source = open_fake();
  EXPECT_FALSE(first_reading(*source).power_w);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_NEAR(*first_reading(*source).power_w, 250, 0.25);
}

TEST(RocmSmi, WithoutACounterHasPowerOnly) {
  const EnvironmentVariable no_counter("FAKE_ROCM_NO_COUNTER", "1");
  const auto source = open_fake();
  const Reading reading = first_reading(*source);
  EXPECT_TRUE(reading.power_w);
  EXPECT_FALSE(reading.energy_j);
  EXPECT_EQ(reading.failure, "");
  EXPECT_DOUBLE_EQ(source->channels()[0].counter_period_s, 0);
}

TEST(RocmSmi, TheLockOfADeadMonitorDoesNotMatter) {
  const EnvironmentVariable locked("FAKE_ROCM_LOCKED", "1");
  EXPECT_DOUBLE_EQ(*first_reading(*open_fake()).power_w, 250);
}

TEST(RocmSmi, OfAnMi250TheFirstDieShowsBoth) {
  const EnvironmentVariable devices("FAKE_ROCM_DEVICES", "4");
  const EnvironmentVariable dies("FAKE_ROCM_DIES", "2");
  const auto source = open_fake({.rocr = "3"});
  ASSERT_EQ(source->channels().size(), 1U);
  EXPECT_EQ(source->channels()[0].name, "rocm:2+3:gpu");
  EXPECT_DOUBLE_EQ(*first_reading(*source).power_w, 250);
  EXPECT_THAT(source->notes(), Contains(HasSubstr("of which the program has only a part")));
}

TEST(RocmSmi, ACounterAtAWrongRateIsNotUsedAndTheResultSaysWhy) {
  const EnvironmentVariable rate("FAKE_ROCM_COUNTER_RATE", "1.7");
  const ChannelEnergy result = measured(*open_fake());
  EXPECT_EQ(result.energy_j, result.energy_integrated_j);
  EXPECT_NEAR(*result.difference_percent, 70, 15);
  EXPECT_THAT(result.distrust, HasSubstr("its counter differs from the integrated power by +"));
}

TEST(RocmSmi, ACounterThatStandsStillIsNotUsed) {
  const EnvironmentVariable rate("FAKE_ROCM_COUNTER_RATE", "0");
  const ChannelEnergy result = measured(*open_fake());
  EXPECT_FALSE(result.energy_counter_j);
  EXPECT_NEAR(*result.power_mean_w, 250, 0.25);
}

TEST(RocmSmi, AResetOfTheCounterLeavesTheIntegral) {
  const EnvironmentVariable reset("FAKE_ROCM_RESET_J", "20");
  const ChannelEnergy result = measured(*open_fake());
  EXPECT_FALSE(result.energy_counter_j);
  EXPECT_NEAR(*result.power_mean_w, 250, 0.25);
}

TEST(RocmSmi, ACounterOf32BitsGoesOn) {
  const EnvironmentVariable start("FAKE_ROCM_COUNTER_J", "65516");
  const EnvironmentVariable wrap("FAKE_ROCM_WRAP_J", "65536");
  const ChannelEnergy result = measured(*open_fake());
  EXPECT_NEAR(*result.energy_counter_j / *result.energy_integrated_j, 1, 0.1);
}

TEST(RocmSmi, ALostDeviceIsReported) {
  const EnvironmentVariable gone("FAKE_ROCM_GONE_MS", "200");
  const ChannelEnergy result = measured(*open_fake());
  EXPECT_FALSE(result.energy_j);
  EXPECT_THAT(result.absent, HasSubstr("Not found (ROCm SMI code 10)"));
}

TEST(RocmSmi, APassingErrorIsAFailedReadingOfTheCounterOnly) {
  const EnvironmentVariable limit("FAKE_ROCM_FAIL_AFTER", "1");  // the first is made at the start
  const EnvironmentVariable code("FAKE_ROCM_FAIL_CODE", "16");
  const Reading reading = first_reading(*open_fake());
  EXPECT_TRUE(reading.power_w);
  EXPECT_FALSE(reading.energy_j);
  EXPECT_EQ(reading.failure, "Device busy (ROCm SMI code 16)");
}

TEST(RocmSmi, WhatIsNotThereIsAnAbsence) {
  EXPECT_EQ(rocm_smi_error({.rocr = ""}), "the program sees none of 1 AMD GPUs");
  const EnvironmentVariable none("FAKE_ROCM_DEVICES", "0");
  EXPECT_EQ(rocm_smi_error(), "ROCm SMI shows no device");
  const EnvironmentVariable code("FAKE_ROCM_INIT_CODE", "8");
  EXPECT_EQ(rocm_smi_error(), "rsmi_init: Unknown error (ROCm SMI code 8)");
}

TEST(RocmSmi, AMissingLibraryIsAnAbsence) {
  try {
    open_rocm_smi({"libbench-no-such.so"}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("no ROCm SMI: libbench-no-such.so: cannot open"));
  }
}

TEST(RocmSmi, IsLookedForInRocmPath) {
  const EnvironmentVariable path("ROCM_PATH", "/site/rocm");
  EXPECT_THAT(rocm_smi_libraries(), Contains("/site/rocm/lib/librocm_smi64.so"));
}

}  // namespace
}  // namespace bench::energy
