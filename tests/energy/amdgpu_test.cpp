#include "energy/fixtures.hpp"
#include "energy/gpu_metrics_table.hpp"

#include <cstdint>
#include <fstream>
#include <ios>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/sources/amd.hpp>
#include <bench/energy/sources/amd_devices.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

TEST(Amdgpu, WithoutPowerDividesTheEnergyByTheDriversTime) {
  const TemporaryDirectory tree;
  add_card(tree, 0, "c1", table_1_3(no_power, 1000 * counts_per_joule, 1'000'000'000));
  const auto source = open_amdgpu(tree.path(), {});
  EXPECT_FALSE(read_channels(*source)[0].power_w);
  write_table(tree, 0, table_1_3(no_power, 1125 * counts_per_joule, 1'500'000'000));
  EXPECT_DOUBLE_EQ(*read_channels(*source)[0].power_w, 250);
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

}  // namespace
}  // namespace bench::energy
