#include "energy/fixtures.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/energy/core/channel.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;

void add_zone(const TemporaryDirectory& tree, const std::string& zone, const std::string& name,
              const std::string& energy_uj) {
  const std::string directory = "class/powercap/" + zone + "/";
  tree.write(directory + "name", name);
  tree.write(directory + "max_energy_range_uj", "1000000");
  tree.write(directory + "energy_uj", energy_uj);
}

std::string rapl_error(const TemporaryDirectory& tree) {
  return message_of([&] { open_in(tree, "rapl"); });
}

TEST(Rapl, CounterGoesOnWhereTheFileWrapsAround) {
  const TemporaryDirectory tree;
  add_zone(tree, "intel-rapl:0", "package-0", "900000");
  const auto source = open_in(tree, "rapl");
  const Reading before = first_reading(*source);
  tree.write("class/powercap/intel-rapl:0/energy_uj", "150000");
  const Reading after = first_reading(*source);
  EXPECT_NEAR(*after.energy_j - *before.energy_j, 0.25, 1e-12);
}

/// A jump that no package can draw: at a reset the counter goes on from 0.
TEST(Rapl, AResetIsNoWrap) {
  const TemporaryDirectory tree;
  add_zone(tree, "intel-rapl:0", "package-0", "3000000000");
  tree.write("class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850");
  const auto source = open_in(tree, "rapl");
  const Reading before = read_channels(*source).at(0);
  tree.write("class/powercap/intel-rapl:0/energy_uj", "2000000");
  const Reading after = read_channels(*source).at(0);
  EXPECT_NEAR(*after.energy_j - *before.energy_j, 2, 1e-9);
  EXPECT_GT(after.uncounted_s, 0);
  EXPECT_THAT(source->notes(), testing::ElementsAre(HasSubstr("its counter was reset")));
  tree.write("class/powercap/intel-rapl:0/energy_uj", "5000000");
  const Reading later = read_channels(*source).at(0);
  EXPECT_NEAR(*later.energy_j - *before.energy_j, 5, 1e-9);
  EXPECT_EQ(later.uncounted_s, 0);
}

TEST(Rapl, AddsPackagesAndMemoryOnly) {
  const TemporaryDirectory tree;
  add_zone(tree, "intel-rapl:0", "package-0", "1");
  add_zone(tree, "intel-rapl:0:0", "core", "1");
  add_zone(tree, "intel-rapl:0:1", "dram", "1");
  add_zone(tree, "intel-rapl:1", "package-1", "1");
  add_zone(tree, "intel-rapl:2", "psys", "1");
  add_zone(tree, "intel-rapl-mmio:0", "package-0", "1");
  const auto source = open_in(tree, "rapl");
  EXPECT_THAT(names(*source), testing::ElementsAre("rapl:package-0", "rapl:package-1", "rapl:psys",
                                                   "rapl:package-0:core", "rapl:package-0:dram"));
  std::vector<Channel> channels = source->channels();
  mark_additive(channels);
  std::vector<std::string> added;
  for (const Channel& channel : channels)
    if (channel.additive)
      added.push_back(channel.name);
  EXPECT_THAT(added,
              testing::ElementsAre("rapl:package-0", "rapl:package-1", "rapl:package-0:dram"));
}

TEST(Rapl, AnUnreadableCounterNamesTheFileAndTheRemedy) {
  const TemporaryDirectory tree;
  add_zone(tree, "intel-rapl:0", "package-0", "1");
  const auto file = tree.path() / "class/powercap/intel-rapl:0/energy_uj";
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);  // what even root cannot read
  EXPECT_THAT(rapl_error(tree),
              HasSubstr("cannot read " + file.string() + ": Is a directory (mode 0"));
  EXPECT_THAT(rapl_error(tree), HasSubstr("setcap cap_dac_read_search+ep"));
}

TEST(Rapl, AMissingCounterIsLeftOutAndNoted) {
  const TemporaryDirectory tree;
  add_zone(tree, "intel-rapl:0", "package-0", "1");
  add_zone(tree, "intel-rapl:1", "package-1", "1");
  std::filesystem::remove(tree.path() / "class/powercap/intel-rapl:1/energy_uj");
  const auto source = open_in(tree, "rapl");
  EXPECT_THAT(names(*source), testing::ElementsAre("rapl:package-0"));
  EXPECT_THAT(source->notes(), testing::ElementsAre(HasSubstr("No such file or directory")));
}

/// A file whose failure the reason and the remedy name.
struct UnreadableFile {
  std::string name;
  std::string file;
};
class RaplUnreadableTest : public testing::TestWithParam<UnreadableFile> {};

TEST_P(RaplUnreadableTest, MakesThePackageAHoleInTheSum) {
  const TemporaryDirectory tree;
  add_zone(tree, "intel-rapl:0", "package-0", "1");
  add_zone(tree, "intel-rapl:1", "package-1", "1");
  const auto file = tree.path() / "class/powercap/intel-rapl:1" / GetParam().file;
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);  // what even root cannot read
  const auto source = open_in(tree, "rapl");
  EXPECT_THAT(names(*source), testing::ElementsAre("rapl:package-0"));
  ASSERT_EQ(source->unreadable().size(), 1U);
  const Channel& hole = source->unreadable()[0];
  EXPECT_EQ(hole.name, "rapl:package-1");
  EXPECT_EQ(hole.scope, Scope::package);
  EXPECT_THAT(hole.unreadable, testing::StartsWith("cannot read " + file.string() + ": "));
  EXPECT_THAT(hole.unreadable, HasSubstr("chmod a+r"));
}

INSTANTIATE_TEST_SUITE_P(Energy, RaplUnreadableTest,
                         testing::Values(UnreadableFile{"Counter", "energy_uj"},
                                         UnreadableFile{"Range", "max_energy_range_uj"}),
                         [](const auto& test) { return test.param.name; });

/// Two dies of one package, read several times.
struct DiesCase {
  std::string name;
  std::vector<std::pair<int, int>>
      readings_uj;  ///< Both counters; the first pair when they are found.
  bool mirrored;
};
class RaplDiesTest : public testing::TestWithParam<DiesCase> {};

TEST_P(RaplDiesTest, CountOnceWhereTheirCountersAreEqual) {
  const TemporaryDirectory tree;
  const auto& readings = GetParam().readings_uj;
  add_zone(tree, "intel-rapl:0", "package-0-die-0", std::to_string(readings[0].first));
  add_zone(tree, "intel-rapl:1", "package-0-die-1", std::to_string(readings[0].second));
  const auto source = open_in(tree, "rapl");
  for (const auto& [first, second] : readings) {
    tree.write("class/powercap/intel-rapl:0/energy_uj", std::to_string(first));
    tree.write("class/powercap/intel-rapl:1/energy_uj", std::to_string(second));
    read_channels(*source);
  }
  std::vector<Channel> channels = source->channels();
  mark_additive(channels);
  EXPECT_TRUE(channels[0].additive);
  EXPECT_EQ(channels[1].additive, !GetParam().mirrored);
  if (GetParam().mirrored)
    EXPECT_THAT(source->notes(),
                testing::ElementsAre("rapl:package-0-die-1 has the counter of "
                                     "rapl:package-0-die-0, which is counted once"));
  else
    EXPECT_THAT(source->notes(), testing::ElementsAre());
}

INSTANTIATE_TEST_SUITE_P(
    Energy, RaplDiesTest,
    testing::Values(DiesCase{"Always", {{500, 500}, {900, 900}, {1400, 1400}}, true},
                    DiesCase{"ButForOneThatMovedBetweenTheReadings",
                             {{500, 500}, {900, 900}, {1400, 1450}, {2000, 2000}},
                             true},
                    DiesCase{"AcrossTheEndOfTheCounter",
                             {{999'500, 999'500}, {999'900, 999'900}, {400, 450}},
                             true},
                    DiesCase{"OnlyAtTheStart", {{0, 0}, {900, 300}, {1800, 600}}, false},
                    DiesCase{"Never", {{500, 7000}, {900, 7400}}, false}),
    [](const auto& test) { return test.param.name; });

TEST(Rapl, EqualCountersOfTwoSocketsAreTwo) {
  const TemporaryDirectory tree;
  add_zone(tree, "intel-rapl:0", "package-0", "500");
  add_zone(tree, "intel-rapl:1", "package-1", "500");
  std::vector<Channel> channels = open_in(tree, "rapl")->channels();
  mark_additive(channels);
  EXPECT_TRUE(channels[0].additive && channels[1].additive);
}

TEST(Rapl, ANodeWithoutItSaysSo) {
  const TemporaryDirectory tree;
  EXPECT_EQ(rapl_error(tree), "no " + tree.path().string() +
                                  "/class/powercap/intel-rapl:* (no RAPL, or hidden from this "
                                  "container)");
}

}  // namespace
}  // namespace bench::energy
