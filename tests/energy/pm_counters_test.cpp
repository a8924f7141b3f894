#include "energy/fixtures.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/sources/pm_counters.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The files of a node, written as its controller would.
class Controller {
 public:
  Controller() {
    set("freshness", "1");
    set("generation", "4");
    set("startup", "1700000000");
    set("raw_scan_hz", "10");
    set("version", "2");
  }

  void set(const std::string& file, const std::string& line) const {
    tree_.write("cray/pm_counters/" + file, line);
  }
  /// What the files of one part say at a moment of the controller's clock.
  void scan(const std::string& prefix, double power_w, double energy_j, double time_s) const {
    const std::string stamp = std::to_string(std::llround(1.7e15 + time_s * 1e6)) + " us";
    set(prefix + "power", std::to_string(std::llround(power_w)) + " W " + stamp);
    set(prefix + "energy", std::to_string(std::llround(energy_j)) + " J " + stamp);
  }
  std::filesystem::path root() const { return tree_.path(); }
  std::filesystem::path files() const { return root() / "cray/pm_counters"; }

 private:
  TemporaryDirectory tree_;
};

TEST(PmCounters, ReadsPowerAndEnergy) {
  const Controller controller;
  controller.scan("", 650, 123456789, 0);
  const auto source = open_pm_counters(controller.root());
  const Reading reading = read_channels(*source).at(0);
  EXPECT_EQ(reading.power_w, 650);
  EXPECT_EQ(reading.energy_j, 123456789);
  EXPECT_DOUBLE_EQ(source->channels()[0].counter_period_s, 0.1);
  EXPECT_DOUBLE_EQ(source->shortest_interval_s(), 0.1);
}

TEST(PmCounters, OnlyTheNodeIsAdded) {
  const Controller controller;
  for (const char* prefix : {"", "cpu_", "cpu0_", "memory_", "accel0_", "accel1_"})
    controller.scan(prefix, 100, 1000, 0);
  controller.set("power_cap", "0 W 1 us");
  controller.set("accel0_power_cap", "0 W 1 us");
  controller.set("cpu0_temp", "40 C 1 us");
  const auto source = open_pm_counters(controller.root());
  EXPECT_THAT(names(*source),
              ElementsAre("pm_counters:node", "pm_counters:cpu", "pm_counters:cpu0",
                          "pm_counters:accel0", "pm_counters:accel1", "pm_counters:memory"));
  std::vector<Channel> channels = source->channels();
  Channel gpu;
  gpu.name = "nvml:0:gpu";
  gpu.scope = Scope::gpu;
  channels.push_back(gpu);
  mark_additive(channels);
  for (const Channel& channel : channels) {
    EXPECT_EQ(channel.additive, channel.name == "pm_counters:node") << channel.name;
    EXPECT_EQ(channel.parent, channel.additive ? "" : "pm_counters:node") << channel.name;
  }
}

TEST(PmCounters, PartsWithoutTheNodeStayBesideOtherSensors) {
  const Controller controller;
  controller.scan("accel_", 100, 1000, 0);
  std::vector<Channel> channels = open_pm_counters(controller.root())->channels();
  Channel gpu;
  gpu.name = "nvml:0:gpu";
  gpu.scope = Scope::gpu;
  channels.push_back(gpu);
  mark_additive(channels);
  EXPECT_FALSE(channels[0].additive);
  EXPECT_TRUE(channels[1].additive);
}

struct Load {
  std::string name;
  double (*power_w)(double);
  double (*energy_j)(double);
};
class PmCountersEnergyTest : public testing::TestWithParam<Load> {};

/// Ten scans per second over 10 s, each read when it is made.
TEST_P(PmCountersEnergyTest, MatchesTheClosedForm) {
  const Controller controller;
  controller.scan("", GetParam().power_w(0), 1e6, 0);
  const auto source = open_pm_counters(controller.root());
  ChannelMeter meter(source->channels()[0], 0.1);
  for (int scan = 0; scan <= 100; ++scan) {
    const double t = scan / 10.0;
    controller.scan("", GetParam().power_w(t), 1e6 + GetParam().energy_j(t), t);
    controller.set("freshness", std::to_string(scan));
    meter.add(t, read_channels(*source).at(0));
  }
  meter.close(10);
  const ChannelEnergy result = meter.result();
  const double expected_j = GetParam().energy_j(10);
  EXPECT_NEAR(*result.energy_counter_j / expected_j, 1, 0.001);
  EXPECT_NEAR(*result.energy_integrated_j / expected_j, 1, 0.001);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, PmCountersEnergyTest,
    testing::Values(Load{"Constant", [](double) { return 700.0; },
                         [](double time_s) { return 700 * time_s; }},
                    Load{"Ramp", [](double time_s) { return 500 + 40 * time_s; },
                         [](double time_s) { return 500 * time_s + 20 * time_s * time_s; }}),
    [](const auto& test) { return test.param.name; });

/// How often it is read, where each scan is over after so many questions for its freshness.
int reads(int questions_per_scan) {
  int questions = 0;
  int reads = 0;
  read_one_scan([&] { return questions++ / questions_per_scan; }, [&] { ++reads; });
  return reads;
}

TEST(PmCounters, ReadsAgainWhenTheControllerWritesMeanwhile) {
  EXPECT_EQ(reads(100), 1);
  EXPECT_EQ(reads(3), 1);
  EXPECT_EQ(reads(1), 3);
}

TEST(PmCounters, ASecondReadingReplacesTheFirst) {
  std::uint64_t freshness = 7;
  std::vector<std::uint64_t> seen;
  read_one_scan([&] { return freshness; },
                [&] {
                  seen.push_back(freshness);
                  if (seen.size() == 1)
                    ++freshness;
                });
  EXPECT_THAT(seen, ElementsAre(7, 8));
}

TEST(PmCounters, AStampThatStandsStillIsNoReading) {
  const Controller controller;
  controller.scan("", 650, 1000, 0);
  const auto source = open_pm_counters(controller.root(), 0);
  const Reading frozen = read_channels(*source).at(0);
  EXPECT_FALSE(frozen.power_w || frozen.energy_j);
  EXPECT_THAT(frozen.failure, HasSubstr("does not change"));
  controller.scan("", 650, 1065, 0.1);
  EXPECT_EQ(read_channels(*source).at(0).energy_j, 1065);
}

TEST(PmCounters, OldFilesWithoutAStampAreRead) {
  const Controller controller;
  controller.set("power", "93 W");
  controller.set("energy", "2348 J");
  const auto source = open_pm_counters(controller.root(), 0);
  const Reading reading = read_channels(*source).at(0);
  EXPECT_EQ(reading.power_w, 93);
  EXPECT_EQ(reading.energy_j, 2348);
}

TEST(PmCounters, ARestartOfTheControllerEndsTheCounterNotThePower) {
  const Controller controller;
  controller.scan("", 650, 1000, 0);
  const auto source = open_pm_counters(controller.root());
  controller.set("startup", "1700009999");
  controller.scan("", 650, 2000, 1);
  const Reading reading = read_channels(*source).at(0);
  EXPECT_EQ(reading.power_w, 650);
  EXPECT_FALSE(reading.energy_j);
  EXPECT_THAT(reading.failure, HasSubstr("restarted"));
}

TEST(PmCounters, ANewPowerCapIsNoted) {
  const Controller controller;
  controller.scan("", 650, 1000, 0);
  const auto source = open_pm_counters(controller.root());
  read_channels(*source);
  EXPECT_THAT(source->notes(), IsEmpty());
  controller.set("generation", "5");
  read_channels(*source);
  read_channels(*source);
  EXPECT_THAT(source->notes(), ElementsAre("pm_counters: a power cap was changed during the run"));
}

TEST(PmCounters, ZeroWattsAreNoReading) {
  const Controller controller;
  controller.scan("", 650, 1000, 0);
  controller.scan("accel0_", 0, 0, 0);
  const auto source = open_pm_counters(controller.root());
  EXPECT_THAT(names(*source), ElementsAre("pm_counters:node"));
  EXPECT_THAT(source->notes(), ElementsAre("pm_counters:accel0: it shows 0 W"));
  controller.scan("", 0, 1000, 1);
  EXPECT_FALSE(read_channels(*source).at(0).power_w);
}

std::string pm_counters_error(const std::filesystem::path& root) {
  return message_of([&] { open_pm_counters(root); });
}

TEST(PmCounters, AnUnreadableNodeSaysWhy) {
  const Controller controller;
  controller.set("power", "none");
  EXPECT_EQ(pm_counters_error(controller.root()),
            "pm_counters:node: " + controller.files().string() + "/power does not hold a number");
}

TEST(PmCounters, OtherNodesHaveNone) {
  const TemporaryDirectory tree;
  EXPECT_EQ(pm_counters_error(tree.path()),
            "no " + tree.path().string() + "/cray/pm_counters (not an HPE Cray node)");
}

}  // namespace
}  // namespace bench::energy
