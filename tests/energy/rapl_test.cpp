#include "energy/fixtures.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/energy/meter/additive.hpp>
#include <bench/energy/meter/channel.hpp>
#include <bench/energy/sources/rapl.hpp>

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
  return message_of([&] { open_rapl(tree.path()); });
}

TEST(Rapl, CounterGoesOnWhereTheFileWrapsAround) {
  const TemporaryDirectory tree;
  add_zone(tree, "intel-rapl:0", "package-0", "900000");
  const auto source = open_rapl(tree.path());
  Reading before;
  source->read({&before, 1});
  tree.write("class/powercap/intel-rapl:0/energy_uj", "150000");
  Reading after;
  source->read({&after, 1});
  EXPECT_NEAR(*after.energy_j - *before.energy_j, 0.25, 1e-12);
}

/// A jump that no package can draw: at a reset the counter goes on from 0.
TEST(Rapl, AResetIsNoWrap) {
  const TemporaryDirectory tree;
  add_zone(tree, "intel-rapl:0", "package-0", "3000000000");
  tree.write("class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850");
  const auto source = open_rapl(tree.path());
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
  const auto source = open_rapl(tree.path());
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
  const auto source = open_rapl(tree.path());
  EXPECT_THAT(names(*source), testing::ElementsAre("rapl:package-0"));
  EXPECT_THAT(source->notes(), testing::ElementsAre(HasSubstr("No such file or directory")));
}

TEST(Rapl, ANodeWithoutItSaysSo) {
  const TemporaryDirectory tree;
  EXPECT_EQ(rapl_error(tree), "no " + tree.path().string() +
                                  "/class/powercap/intel-rapl:* (no RAPL, or hidden from this "
                                  "container)");
}

}  // namespace
}  // namespace bench::energy
