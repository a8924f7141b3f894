#include "energy/fixtures.hpp"
#include "support/environment_variable.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/amd.hpp>
#include <bench/energy/sources/amd_devices.hpp>

namespace bench::energy {
namespace {

using support::EnvironmentVariable;
using testing::ElementsAre;
using testing::HasSubstr;

/// A table as the driver fills it, all-ones where nothing was put.
class MetricsTable {
 public:
  MetricsTable(unsigned char format, unsigned char content, std::size_t bytes = 128)
      : bytes_(bytes, std::byte{0xff}) {
    put(0, static_cast<std::uint16_t>(bytes));
    put(2, format);
    put(3, content);
  }

  template <class Integer>
  MetricsTable& put(std::size_t offset, Integer value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
    return *this;
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Table v1.3, that of MI200.
MetricsTable table_1_3(std::uint16_t power_w, std::uint64_t count, std::uint64_t time_ns) {
  return MetricsTable(1, 3).put(22, power_w).put(24, count).put(32, time_ns);
}

constexpr std::uint16_t power_w = 456;
constexpr std::uint64_t count = 0x0000'0012'3456'789a;
constexpr std::uint64_t time_ns = 98'765'432'100;

std::optional<AmdValues> parse(const MetricsTable& table, std::string& failure) {
  return parse_gpu_metrics(table.bytes(), failure);
}

struct Layout {
  std::string name;
  unsigned char content;
  std::size_t power;
  std::size_t energy;
  std::size_t clock;
};
class GpuMetricsTest : public testing::TestWithParam<Layout> {};

TEST_P(GpuMetricsTest, HasPowerEnergyAndTimeAtTheirPlaces) {
  const Layout& layout = GetParam();
  MetricsTable table(1, layout.content);
  table.put(layout.power, power_w).put(layout.energy, count).put(layout.clock, time_ns);
  std::string failure;
  const auto values = parse(table, failure);
  ASSERT_TRUE(values) << failure;
  EXPECT_EQ(values->power_w, 456);
  EXPECT_EQ(values->energy_count, count);
  EXPECT_DOUBLE_EQ(*values->time_s, 98.7654321);
}

TEST_P(GpuMetricsTest, AllOnesAreNotAvailable) {
  std::string failure;
  const auto values = parse(MetricsTable(1, GetParam().content), failure);
  ASSERT_TRUE(values) << failure;
  EXPECT_FALSE(values->power_w || values->energy_count || values->time_s);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, GpuMetricsTest,
    testing::Values(Layout{"V1_1", 1, 22, 24, 32}, Layout{"V1_2", 2, 22, 24, 32},
                    Layout{"V1_3", 3, 22, 24, 32}, Layout{"V1_4", 4, 10, 24, 32},
                    Layout{"V1_5", 5, 10, 88, 96}, Layout{"V1_6", 6, 10, 16, 24},
                    Layout{"V1_7", 7, 10, 24, 32}, Layout{"V1_8", 8, 10, 24, 32}),
    [](const auto& test) { return test.param.name; });

TEST(GpuMetrics, TheFirstTableHasAnAccumulatorOf32Bits) {
  MetricsTable table(1, 0);
  table.put(8, time_ns).put(34, power_w).put(36, std::uint32_t{123456789});
  std::string failure;
  EXPECT_EQ(parse(table, failure)->energy_count, 123456789U);
  table.put(36, std::uint32_t{0xffffffff});
  EXPECT_FALSE(parse(table, failure)->energy_count);
}

struct BadTable {
  std::string name;
  MetricsTable table;
  std::string failure;
};
class BadMetricsTest : public testing::TestWithParam<BadTable> {};

TEST_P(BadMetricsTest, IsRefusedWithAReason) {
  std::string failure;
  EXPECT_FALSE(parse(GetParam().table, failure));
  EXPECT_EQ(failure, GetParam().failure);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, BadMetricsTest,
    testing::Values(BadTable{"OfAnApu", MetricsTable(2, 3), "table v2.3 is not known"},
                    BadTable{"OfTheFuture", MetricsTable(1, 9), "table v1.9 is not known"},
                    BadTable{"CutShort", MetricsTable(1, 3).put(0, std::uint16_t{200}),
                             "128 bytes are not a whole table"},
                    BadTable{"WithoutAHeader", MetricsTable(1, 3).put(0, std::uint16_t{0}),
                             "128 bytes are not a whole table"}),
    [](const auto& test) { return test.param.name; });

TEST(GpuMetrics, AnEmptyFileIsNoTable) {
  std::string failure;
  EXPECT_FALSE(parse_gpu_metrics({}, failure));
  EXPECT_EQ(failure, "0 bytes are not a whole table");
}

TEST(GpuMetrics, WhatLiesBehindTheStatedSizeIsNotRead) {
  MetricsTable table = table_1_3(power_w, count, time_ns);
  table.put(0, std::uint16_t{24});
  std::string failure;
  const auto values = parse(table, failure);
  EXPECT_EQ(values->power_w, 456);
  EXPECT_FALSE(values->energy_count);
}

AmdValues readings(std::optional<double> power_w, std::optional<double> energy_j, double time_s) {
  constexpr double counts_per_joule = 65536;
  AmdValues result;
  result.power_w = power_w;
  if (energy_j)
    result.energy_count = static_cast<std::uint64_t>(*energy_j * counts_per_joule);
  result.time_s = time_s;
  return result;
}

TEST(AmdGauge, CountsInUnitsOf15Point2588Microjoules) {
  AmdGauge gauge;
  AmdValues values;
  values.energy_count = 1'000'000'000'000;
  values.time_s = 1;
  // With the resolution of 15.3 uJ that the libraries tell it would be 15.3 MJ, 0.27 % more.
  EXPECT_DOUBLE_EQ(*gauge.reading(values, 0).energy_j, 15258789.0625);
}

TEST(AmdGauge, ZeroIsNoValue) {
  AmdGauge gauge;
  const Reading reading = gauge.reading(readings(0, 0, 1), 0);
  EXPECT_FALSE(reading.power_w || reading.energy_j);
  EXPECT_EQ(reading.failure, "shows neither power nor energy");
}

TEST(AmdGauge, TheImpossibleIsNoValue) {
  AmdGauge gauge;
  EXPECT_FALSE(gauge.reading(readings(65534, {}, 1), 0).power_w);
}

TEST(AmdGauge, GoesOnOverTheEndOfA32BitAccumulator) {
  AmdGauge gauge;
  const double first_j = *gauge.reading(readings(300, 65500, 10), 0).energy_j;
  const double second_j = *gauge.reading(readings(300, 24, 10.2), 0).energy_j;
  const double third_j = *gauge.reading(readings(300, 84, 10.4), 0).energy_j;
  EXPECT_DOUBLE_EQ(second_j - first_j, 60);
  EXPECT_DOUBLE_EQ(third_j - second_j, 60);
}

TEST(AmdGauge, WrapsAsOftenAsItTakes) {
  AmdGauge gauge;
  const double power_w = 400;
  double last_j = *gauge.reading(readings(power_w, 100, 0), 0).energy_j;
  const double first_j = last_j;
  for (int s = 10; s <= 1000; s += 10) {
    const double shown_j = std::fmod(100 + power_w * s, 65536);
    const double energy_j = *gauge.reading(readings(power_w, shown_j, s), 0).energy_j;
    EXPECT_NEAR(energy_j - last_j, power_w * 10, 1e-3);
    last_j = energy_j;
  }
  EXPECT_NEAR((last_j - first_j) / (power_w * 1000), 1, 0.001);
}

TEST(AmdGauge, AStepBackThatNoPowerExplainsShowsAsAReset) {
  AmdGauge gauge;
  const double first_j = *gauge.reading(readings(300, 30000, 10), 0).energy_j;
  EXPECT_LT(*gauge.reading(readings(300, 5, 10.1), 0).energy_j, first_j);
}

TEST(AmdGauge, AWideAccumulatorNeverWraps) {
  AmdGauge gauge;
  const double first_j = *gauge.reading(readings(300, 65537, 10), 0).energy_j;
  EXPECT_LT(*gauge.reading(readings(300, 65530, 100), 0).energy_j, first_j);
}

TEST(AmdGauge, WithoutTheDriversClockTakesTheHosts) {
  AmdGauge gauge;
  AmdValues first = readings({}, 65500, 0);
  AmdValues second = readings({}, 24, 0);
  first.time_s.reset();
  second.time_s.reset();
  EXPECT_DOUBLE_EQ(*gauge.reading(first, 50).energy_j, 65500);
  EXPECT_DOUBLE_EQ(*gauge.reading(second, 50.2).energy_j, 65560);
}

constexpr std::uint64_t counts_per_joule = 65536;
constexpr std::uint16_t no_power = 0xffff;

/// In place, since the source keeps its files open.
void write_table(const TemporaryDirectory& tree, int card, const MetricsTable& table) {
  std::ofstream stream(
      tree.path() / ("class/drm/card" + std::to_string(card)) / "device/gpu_metrics",
      std::ios::binary);
  stream.write(reinterpret_cast<const char*>(table.bytes().data()),
               static_cast<std::streamsize>(table.bytes().size()));
}

void add_card(const TemporaryDirectory& tree, int card, const std::string& bus,
              const MetricsTable& table, const std::string& product = "0x74a1") {
  const std::string device = "class/drm/card" + std::to_string(card) + "/device/";
  tree.write(device + "vendor", "0x1002");
  tree.write(device + "device", product);
  tree.write(device + "unique_id", "00000000000000" + bus);
  tree.write(device + "uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:" + bus + ":00.0");
  write_table(tree, card, table);
}

std::string amdgpu_error(const TemporaryDirectory& tree, const AmdVisibility& visibility = {}) {
  return message_of([&] { open_amdgpu(tree.path(), visibility); });
}

TEST(Amdgpu, ReadsPowerAndTheCounter) {
  const TemporaryDirectory tree;
  add_card(tree, 1, "c1", table_1_3(300, 1000 * counts_per_joule, 1'000'000'000));
  tree.write("class/drm/card1-DP-1/status", "disconnected");
  tree.write("class/drm/card0/device/vendor", "0x1a03");  // the server's own display
  const auto source = open_amdgpu(tree.path(), {});
  ASSERT_EQ(source->channels().size(), 1U);
  EXPECT_EQ(source->channels()[0].name, "amdgpu:0:gpu");
  EXPECT_EQ(source->channels()[0].description, "AMD GPU 0000:c1:00.0 GPU-00000000000000c1");
  EXPECT_THAT(source->channels()[0].pci_addresses, ElementsAre("0000:c1:00.0"));
  EXPECT_DOUBLE_EQ(source->channels()[0].counter_period_s, 0.001);
  EXPECT_DOUBLE_EQ(source->shortest_interval_s(), 0.001);
  const Reading first = read_channels(*source)[0];
  EXPECT_DOUBLE_EQ(*first.power_w, 300);
  write_table(tree, 1, table_1_3(310, 1600 * counts_per_joule, 3'000'000'000));
  const Reading second = read_channels(*source)[0];
  EXPECT_DOUBLE_EQ(*second.power_w, 310);
  EXPECT_DOUBLE_EQ(*second.energy_j - *first.energy_j, 600);
}

TEST(Amdgpu, ShowsClockTemperatureAndPowerLimitFromTheSecondReadingOn) {
  const TemporaryDirectory tree;
  add_card(tree, 0, "c1", table_1_3(300, 1000 * counts_per_joule, 1'000'000'000));
  const std::string hwmon = "class/drm/card0/device/hwmon/hwmon2/";
  tree.write(hwmon + "freq1_input", "1700000000");
  tree.write(hwmon + "temp2_input", "61000");
  tree.write(hwmon + "power1_cap", "560000000");
  const auto source = open_amdgpu(tree.path(), {});
  read_channels(*source);
  EXPECT_EQ(source->gpu_state()->clock_mhz.count, 0U);
  read_channels(*source);
  EXPECT_DOUBLE_EQ(source->gpu_state()->clock_mhz.mean(), 1700);
  EXPECT_DOUBLE_EQ(source->gpu_state()->temperature_c.most, 61);
  EXPECT_DOUBLE_EQ(source->gpu_state()->power_limit_w.least, 560);
}

TEST(Amdgpu, WithoutPowerHasTheCounterAlone) {
  const TemporaryDirectory tree;
  add_card(tree, 0, "c1", table_1_3(no_power, 1000 * counts_per_joule, 1'000'000'000));
  const Reading reading = first_reading(*open_amdgpu(tree.path(), {}));
  EXPECT_FALSE(reading.power_w);
  EXPECT_DOUBLE_EQ(*reading.energy_j, 1000);
}

TEST(Amdgpu, WithoutATablesPowerReadsTheCardsHwmon) {
  const TemporaryDirectory tree;
  add_card(tree, 0, "c1", table_1_3(no_power, 1000 * counts_per_joule, 1'000'000'000));
  tree.write("class/drm/card0/device/hwmon/hwmon4/power1_input", "275000000");
  const auto source = open_amdgpu(tree.path(), {});
  const Reading reading = read_channels(*source)[0];
  EXPECT_DOUBLE_EQ(*reading.power_w, 275);
  EXPECT_DOUBLE_EQ(*reading.energy_j, 1000);
}

TEST(Amdgpu, AnUnknownTableLeavesTheHwmonAndANote) {
  const TemporaryDirectory tree;
  add_card(tree, 0, "c1", MetricsTable(2, 3));
  tree.write("class/drm/card0/device/hwmon/hwmon4/power1_average", "15000000");
  const auto source = open_amdgpu(tree.path(), {});
  EXPECT_DOUBLE_EQ(*read_channels(*source)[0].power_w, 15);
  EXPECT_DOUBLE_EQ(source->channels()[0].counter_period_s, 0);
  EXPECT_THAT(source->notes(),
              ElementsAre("amdgpu device 0000:c1:00.0: " + tree.path().string() +
                          "/class/drm/card0/device/gpu_metrics: table v2.3 is not known"));
}

TEST(Amdgpu, OfAnMi250OneChannelCoversBothDies) {
  const TemporaryDirectory tree;
  add_card(tree, 0, "c1", table_1_3(500, 9 * counts_per_joule, 1'000'000'000), "0x740c");
  add_card(tree, 1, "c6", table_1_3(0, 0, 1'000'000'000), "0x740c");
  const auto source = open_amdgpu(tree.path(), {});
  ASSERT_EQ(source->channels().size(), 1U);
  EXPECT_EQ(source->channels()[0].name, "amdgpu:0+1:gpu");
  EXPECT_DOUBLE_EQ(*read_channels(*source)[0].power_w, 500);
}

TEST(Amdgpu, FollowsTheVariablesOfRocm) {
  const TemporaryDirectory tree;
  for (const auto& [card, bus] : {std::pair{0, "c6"}, {1, "c1"}})
    add_card(tree, card, bus, table_1_3(300, counts_per_joule, 1));
  EXPECT_EQ(open_amdgpu(tree.path(), {.rocr = "1"})->channels()[0].description,
            "AMD GPU 0000:c6:00.0 GPU-00000000000000c6");
  EXPECT_EQ(amdgpu_error(tree, {.rocr = ""}), "the program sees none of 2 AMD GPUs");
}

TEST(Amdgpu, AnUnreadableTableIsAFailedReading) {
  const TemporaryDirectory tree;
  add_card(tree, 0, "c1", table_1_3(300, counts_per_joule, 1));
  const auto source = open_amdgpu(tree.path(), {});
  std::ofstream(tree.path() / "class/drm/card0/device/gpu_metrics").flush();  // empty now
  const Reading reading = read_channels(*source)[0];
  EXPECT_FALSE(reading.power_w || reading.energy_j);
  EXPECT_THAT(reading.failure, HasSubstr("gpu_metrics: 0 bytes are not a whole table"));
}

TEST(Amdgpu, ANodeWithoutSaysSo) {
  const TemporaryDirectory tree;
  EXPECT_EQ(amdgpu_error(tree), "no AMD GPU in " + tree.path().string() + "/class/drm/card*");
  add_card(tree, 0, "c1", MetricsTable(1, 9));
  EXPECT_EQ(amdgpu_error(tree), "amdgpu device 0000:c1:00.0: " + tree.path().string() +
                                    "/class/drm/card0/device/gpu_metrics: table v1.9 is not known");
}

std::unique_ptr<PowerSource> open_fake(const std::filesystem::path& sysfs = "/nonexistent",
                                       const AmdVisibility& visibility = {}) {
  return open_amd_smi({std::string(FAKE_NVML_DIRECTORY) + "/libamd_smi.so.26"}, sysfs, visibility);
}

std::string amd_smi_error(const AmdVisibility& visibility = {}) {
  return message_of([&] { open_fake("/nonexistent", visibility); });
}

/// The result of 60 readings over 0.3 s or more. The meter expects one each second, so that a busy
/// machine causes no gap.
ChannelEnergy measured(PowerSource& source) {
  ChannelMeter meter(source.channels()[0], 1);
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

TEST(AmdSmi, OfALayoutThatIsNotKnownHasTheCounterAlone) {
  const EnvironmentVariable version("FAKE_AMDSMI_VERSION", "24");
  const EnvironmentVariable minor("FAKE_AMDSMI_MINOR", "7");
  const auto source = open_fake();
  const Reading reading = first_reading(*source);
  EXPECT_FALSE(reading.power_w);
  EXPECT_TRUE(reading.energy_j);
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
