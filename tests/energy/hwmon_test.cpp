#include "energy/fixtures.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/channel.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Tells in which order files are read.
class ReadOrder {
 public:
  explicit ReadOrder(const std::vector<std::filesystem::path>& files)
      : events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    for (const std::filesystem::path& file : files)
      watches_.push_back(::inotify_add_watch(events_.get(), file.c_str(), IN_ACCESS));
  }

  /// The numbers of the files that were read since the last call.
  std::vector<std::ptrdiff_t> taken() const {
    alignas(inotify_event) std::array<char, 4096> buffer;
    const ssize_t size = ::read(events_.get(), buffer.data(), buffer.size());
    std::vector<std::ptrdiff_t> order;
    for (ssize_t at = 0; at < size; at += static_cast<ssize_t>(sizeof(inotify_event))) {
      inotify_event event;  // of a file it has no name behind it
      std::memcpy(&event, buffer.data() + at, sizeof event);
      order.push_back(std::ranges::find(watches_, event.wd) - watches_.begin());
    }
    return order;
  }

 private:
  UniqueFd events_;
  std::vector<int> watches_;
};

/// A meter of a Grace superchip as the ACPI driver shows it.
void add_rail(const TemporaryDirectory& tree, int number, const std::string& label,
              const std::string& power_uw) {
  const std::string hwmon = "class/hwmon/hwmon" + std::to_string(number) + "/";
  tree.write(hwmon + "name", "power_meter");
  tree.write(hwmon + "device/power1_average", power_uw);
  tree.write(hwmon + "device/power1_average_interval", "50");
  tree.write(hwmon + "device/power1_oem_info", label);
}

void add_superchip(const TemporaryDirectory& tree) {
  add_rail(tree, 1, "Module Power Socket 0", "500000000");
  add_rail(tree, 2, "Grace Power Socket 0", "100000000");
  add_rail(tree, 3, "CPU Power Socket 0", "50000000");
  add_rail(tree, 4, "SysIO Power Socket 0", "9000000");
}

std::map<std::string, Channel> opened(const TemporaryDirectory& tree) {
  std::vector<Channel> channels = open_in(tree, "hwmon")->channels();
  mark_additive(channels);
  std::map<std::string, Channel> result;
  for (const Channel& channel : channels)
    result[channel.name] = channel;
  return result;
}

TEST(Hwmon, OfASuperchipOnlyTheModuleIsAdded) {
  const TemporaryDirectory tree;
  add_superchip(tree);
  const auto channels = opened(tree);
  ASSERT_EQ(channels.size(), 4U);
  EXPECT_TRUE(channels.at("hwmon:0:module").additive);
  EXPECT_EQ(channels.at("hwmon:0:grace").parent, "hwmon:0:module");
  EXPECT_EQ(channels.at("hwmon:0:cpu").parent, "hwmon:0:grace");
  EXPECT_EQ(channels.at("hwmon:0:sysio").parent, "hwmon:0:grace");
  for (const char* name : {"hwmon:0:grace", "hwmon:0:cpu", "hwmon:0:sysio"})
    EXPECT_FALSE(channels.at(name).additive) << name;
}

TEST(Hwmon, ReadsWattsAndTheAveragingWindow) {
  const TemporaryDirectory tree;
  add_superchip(tree);
  const auto source = open_in(tree, "hwmon");
  const auto readings = read_channels(*source);
  EXPECT_DOUBLE_EQ(*readings[0].power_w, 500);
  EXPECT_DOUBLE_EQ(*readings[3].power_w, 9);
  EXPECT_DOUBLE_EQ(source->channels()[0].averaging_window_s, 0.05);
}

/// Firmware refreshes the rail that is read first and answers for its siblings from a cache.
TEST(Hwmon, EveryRailIsReadFirstInItsTurn) {
  const TemporaryDirectory tree;
  add_superchip(tree);
  std::vector<std::filesystem::path> rails;
  for (const char* number : {"1", "2", "3", "4"})
    rails.push_back(tree.path() / "class/hwmon" / (std::string("hwmon") + number) /
                    "device/power1_average");
  const auto source = open_in(tree, "hwmon");
  const ReadOrder order(rails);
  std::vector<std::vector<std::ptrdiff_t>> orders;
  for (int k = 0; k < 5; ++k) {
    read_channels(*source);
    orders.push_back(order.taken());
  }
  EXPECT_THAT(orders,
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(1, 2, 3, 0), ElementsAre(2, 3, 0, 1),
                          ElementsAre(3, 0, 1, 2), ElementsAre(0, 1, 2, 3)));
}

TEST(Hwmon, FindsMetersBesideTheNameToo) {
  const TemporaryDirectory tree;
  tree.write("class/hwmon/hwmon0/name", "amdgpu");
  tree.write("class/hwmon/hwmon0/power1_input", "300000000");
  tree.write("class/hwmon/hwmon0/power1_label", "PPT");
  tree.write("class/hwmon/hwmon1/name", "power_meter");
  tree.write("class/hwmon/hwmon1/power1_average", "800000000");
  tree.write("class/hwmon/hwmon2/name", "corsairpsu");
  tree.write("class/hwmon/hwmon2/power1_input", "90000000");
  const auto channels = opened(tree);
  EXPECT_EQ(channels.at("hwmon:hwmon0:gpu").parent, "hwmon:hwmon1:node");
  EXPECT_TRUE(channels.at("hwmon:hwmon1:node").additive);
  EXPECT_FALSE(channels.at("hwmon:hwmon2:corsairpsu").additive);
}

TEST(Hwmon, KnowsTheAddressOfAnAmdGpu) {
  const TemporaryDirectory tree;
  tree.write("class/hwmon/hwmon0/name", "amdgpu");
  tree.write("class/hwmon/hwmon0/power1_average", "300000000");
  tree.write("class/hwmon/hwmon0/device/uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:C1:00.0");
  tree.write("class/drm/card0/device/vendor", "0x1002");
  tree.write("class/drm/card0/device/uevent", "PCI_SLOT_NAME=0000:C1:00.0");
  EXPECT_THAT(opened(tree).at("hwmon:hwmon0:gpu").pci_addresses, ElementsAre("0000:c1:00.0"));
}

TEST(Hwmon, KnowsAnApu) {
  const TemporaryDirectory tree;
  tree.write("class/hwmon/hwmon0/name", "amdgpu");
  tree.write("class/hwmon/hwmon0/power1_input", "65000000");
  tree.write("class/hwmon/hwmon0/device/uevent", "PCI_SLOT_NAME=0000:c1:00.0");
  tree.write("class/drm/card0/device/vendor", "0x1002");
  tree.write("class/drm/card0/device/device", "0x74a0");
  tree.write("class/drm/card0/device/uevent", "PCI_SLOT_NAME=0000:c1:00.0");
  EXPECT_EQ(opened(tree).at("hwmon:0:apu").device, 0);
}

TEST(Hwmon, TwoMetersWithOneLabelStayApart) {
  const TemporaryDirectory tree;
  add_rail(tree, 1, "Grace Power Socket 0", "1000000");
  add_rail(tree, 2, "Grace Power Socket 0", "2000000");
  EXPECT_THAT(opened(tree),
              ElementsAre(testing::Key("hwmon:0:grace"), testing::Key("hwmon:0:grace-hwmon2")));
}

struct BadValue {
  std::string name;
  std::string power_uw;
};
class HwmonBadValueTest : public testing::TestWithParam<BadValue> {};

TEST_P(HwmonBadValueTest, IsNoReading) {
  const TemporaryDirectory tree;
  add_superchip(tree);
  const auto source = open_in(tree, "hwmon");
  tree.write("class/hwmon/hwmon2/device/power1_average", GetParam().power_uw);
  const auto readings = read_channels(*source);
  EXPECT_FALSE(readings[1].power_w);
  EXPECT_THAT(readings[1].failure, HasSubstr("hwmon2/device/power1_average"));
  EXPECT_TRUE(readings[0].power_w && readings[2].power_w && readings[3].power_w);
}

INSTANTIATE_TEST_SUITE_P(Energy, HwmonBadValueTest,
                         testing::Values(BadValue{"FirmwareError", "4294967295000"},
                                         BadValue{"Zero", "0"},
                                         BadValue{"Impossible", "100000000000"},
                                         BadValue{"Text", "N/A"}),
                         [](const auto& test) { return test.param.name; });

TEST(Hwmon, ARailWithTheErrorValueAtTheStartIsLeftOut) {
  const TemporaryDirectory tree;
  add_superchip(tree);
  add_rail(tree, 1, "Module Power Socket 0", "4294967295000");
  const auto channels = opened(tree);
  EXPECT_EQ(channels.count("hwmon:0:module"), 0U);
  EXPECT_TRUE(channels.at("hwmon:0:grace").additive);
}

TEST(Hwmon, ARailThatAnotherSocketShowsIsKeptWithoutAFirstReading) {
  const TemporaryDirectory tree;
  add_superchip(tree);
  add_rail(tree, 5, "Module Power Socket 1", "4294967295000");
  add_rail(tree, 6, "Grace Power Socket 1", "100000000");
  const auto channels = opened(tree);
  EXPECT_TRUE(channels.at("hwmon:1:module").additive);
  EXPECT_EQ(channels.at("hwmon:1:grace").parent, "hwmon:1:module");
}

TEST(Hwmon, NoticesRailsThatShareOneAnswer) {
  for (const bool shared : {true, false}) {
    const TemporaryDirectory tree;
    add_superchip(tree);
    const auto rail = [](int number) {
      return "class/hwmon/hwmon" + std::to_string(number) + "/device/power1_average";
    };
    for (const int number : {2, 3, 4})
      if (shared) {
        std::filesystem::remove(tree.path() / rail(number));
        std::filesystem::create_symlink(tree.path() / rail(1), tree.path() / rail(number));
      }
    const auto source = open_in(tree, "hwmon");
    for (int k = 0; k < 250; ++k) {
      for (const int number : {1, 2, 3, 4})
        if (number == 1 || !shared)
          tree.write(rail(number), std::to_string(100'000'000 / number + k));
      read_channels(*source);
    }
    if (shared)
      EXPECT_THAT(source->notes(), ElementsAre(HasSubstr("shows the value of another meter")));
    else
      EXPECT_THAT(source->notes(), ElementsAre());
  }
}

TEST(Hwmon, NoticesARailThatIsFrozenWhileItsSiblingsAreNot) {
  const TemporaryDirectory tree;
  const auto write = [&](const std::string& meter, const std::string& label, int uw) {
    tree.write("class/hwmon/" + meter + "/name", "power_meter");
    tree.write("class/hwmon/" + meter + "/device/power1_average", std::to_string(uw));
    tree.write("class/hwmon/" + meter + "/device/power1_oem_info", label);
  };
  write("hwmon0", "Module Power Socket 0", 500000000);
  write("hwmon1", "Grace Power Socket 0", 100000000);
  write("hwmon2", "CPU Power Socket 1", 60000000);  // alone on its socket: it may be so
  const auto source = open_in(tree, "hwmon");
  for (int k = 0; k < 150; ++k) {
    tree.write("class/hwmon/hwmon0/device/power1_average", std::to_string(500000000 + k));
    read_channels(*source);
  }
  EXPECT_THAT(source->notes(),
              testing::ElementsAre("hwmon:0:grace has not changed for 100 readings while "
                                   "hwmon:0:module has"));
}

TEST(Hwmon, ANodeWithoutMetersSaysSo) {
  const TemporaryDirectory tree;
  EXPECT_EQ(message_of([&] { open_in(tree, "hwmon"); }),
            "no power meter in " + tree.path().string() + "/class/hwmon/hwmon*");
}

}  // namespace
}  // namespace bench::energy
