#include "energy/fixtures.hpp"
#include "support/environment_variable.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/time.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/gcipu.hpp>

namespace bench::energy {
namespace {

using support::EnvironmentVariable;
using testing::ElementsAre;
using testing::HasSubstr;

/// A busy machine may take long to start Python.
const GcipuSettings patient{.patience_s = 120};

/// Puts the fake module where Python finds it.
class GcipuTest : public testing::Test {
  EnvironmentVariable path_{"PYTHONPATH", FAKE_MODULE_DIRECTORY};
  EnvironmentVariable no_cache_{"PYTHONDONTWRITEBYTECODE", "1"};
};

std::vector<std::string> added(const PowerSource& source, std::vector<Channel> others = {}) {
  std::vector<Channel> channels = source.channels();
  channels.insert(channels.end(), others.begin(), others.end());
  mark_additive(channels);
  std::vector<std::string> result;
  for (const Channel& channel : channels)
    if (channel.additive)
      result.push_back(channel.name);
  return result;
}

Channel node() {
  Channel channel;
  channel.name = "node";
  channel.scope = Scope::node;
  return channel;
}

std::string gcipu_error(const GcipuSettings& settings = patient) {
  return message_of([&] { open_gcipu(settings); });
}

TEST_F(GcipuTest, ReadsEveryIpu) {
  const auto source = open_gcipu(patient);
  EXPECT_THAT(names(*source),
              ElementsAre("gcipu:0:ipu", "gcipu:1:ipu", "gcipu:2:ipu", "gcipu:3:ipu"));
  EXPECT_EQ(source->channels()[1].description, "M2000 0131.0002.8204521 IPU 1");
  const auto readings = read_channels(*source);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_DOUBLE_EQ(*readings[i].power_w, 100.0 + 10.0 * static_cast<double>(i));
}

/// Whether the power of the first IPU rises by `rise_w` within two minutes.
bool rises(PowerSource& source, double rise_w) {
  const double first_w = *read_channels(source).at(0).power_w;
  for (int i = 0; i < 2400; ++i) {
    if (const Reading reading = read_channels(source).at(0);
        reading.power_w && *reading.power_w >= first_w + rise_w)
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

TEST_F(GcipuTest, IsNotTheSnapshotOfTheStart) {
  const EnvironmentVariable ramp("FAKE_GCIPU_RAMP", std::to_string(unix_time_now()));
  EXPECT_TRUE(rises(*open_gcipu(patient), 25));
}

TEST_F(GcipuTest, AHelperThatEndsIsStartedAgain) {
  const EnvironmentVariable ramp("FAKE_GCIPU_RAMP", std::to_string(unix_time_now()));
  const EnvironmentVariable fail("FAKE_GCIPU_FAIL", "late");
  EXPECT_TRUE(rises(*open_gcipu(patient), 50));  // each helper lives for three questions
}

TEST_F(GcipuTest, AnIpuWithoutAValueKeepsItsPlace) {
  const EnvironmentVariable idle("FAKE_GCIPU_IDLE", "1");
  const auto source = open_gcipu(patient);
  const auto readings = read_channels(*source);
  ASSERT_EQ(readings.size(), 4U);
  EXPECT_FALSE(readings[1].power_w);
  EXPECT_EQ(readings[1].failure, "gcipuinfo says 'N/A'");
  EXPECT_DOUBLE_EQ(*readings[2].power_w, 120);
}

TEST_F(GcipuTest, ACardCountsAsOneWhateverItsIpusSay) {
  const EnvironmentVariable board("FAKE_GCIPU_BOARD", "c2");
  const auto source = open_gcipu(patient);
  EXPECT_THAT(names(*source), ElementsAre("gcipu:0:ipu", "gcipu:0:board", "gcipu:1:ipu"));
  EXPECT_THAT(added(*source), ElementsAre("gcipu:0:board"));
  EXPECT_DOUBLE_EQ(*read_channels(*source).at(1).power_w, 230);
}

TEST_F(GcipuTest, ACardWithoutThePowerOfItsIpuIsStillMeasured) {
  const EnvironmentVariable board("FAKE_GCIPU_BOARD", "c600");
  const auto source = open_gcipu(patient);
  const auto readings = read_channels(*source);
  EXPECT_FALSE(readings.at(0).power_w);
  EXPECT_DOUBLE_EQ(*readings.at(1).power_w, 120);
}

TEST_F(GcipuTest, ACardIsPartOfTheNodeAnIpuMachineIsNot) {
  EXPECT_THAT(added(*open_gcipu(patient), {node()}),
              ElementsAre("gcipu:0:ipu", "gcipu:1:ipu", "gcipu:2:ipu", "gcipu:3:ipu", "node"));
  const EnvironmentVariable board("FAKE_GCIPU_BOARD", "c2");
  EXPECT_THAT(added(*open_gcipu(patient), {node()}), ElementsAre("node"));
}

TEST_F(GcipuTest, NoDeviceIsAReason) {
  const EnvironmentVariable none("FAKE_GCIPU_FAIL", "none");
  EXPECT_EQ(gcipu_error(), "exit code 1: gcipuinfo lists no IPU in the active partition");
}

TEST(Gcipu, NeedsTheModule) {
  const EnvironmentVariable path("PYTHONPATH", std::nullopt);
  EXPECT_THAT(gcipu_error(), HasSubstr("No module named 'gcipuinfo'"));
}

TEST(Gcipu, NeedsPython) {
  EXPECT_EQ(gcipu_error({.python = "no-such-python"}),
            "cannot start 'no-such-python': not found on PATH");
}

TEST(Gcipu, PowerHasItsUnitWithAndWithoutABlank) {
  EXPECT_EQ(ipu_watts("112.34W"), 112.34);
  EXPECT_EQ(ipu_watts("12.6 W"), 12.6);
  for (const char* text : {"N/A", "", "W", "0W", "35 C", "112.34"})
    EXPECT_FALSE(ipu_watts(text)) << text;
}

TEST(Gcipu, OtherLinesAreNoReading) {
  for (const char* line : {"", "ipus", "warning: ipus\ta\tb\tc\td\te", "ipus\t0\tM2000\tx\t1W"})
    EXPECT_TRUE(parse_ipus(line).empty()) << line;
}

}  // namespace
}  // namespace bench::energy
