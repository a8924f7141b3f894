#include "energy/fixtures.hpp"
#include "support/environment_variable.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/units.hpp>
#include <bench/energy/sources/methods.hpp>

namespace bench::energy {
namespace {

std::string method_error(const std::string& text) {
  return message_and_hint_of([&] { parse_methods({text}); });
}

TEST(Methods, NoneIsEverythingThatMayBeThere) {
  const SourceSettings settings = parse_methods({});
  EXPECT_TRUE(settings.automatic);
  EXPECT_EQ(settings.methods,
            (std::vector<Method>{
                {"pm_counters", ""}, {"rapl", ""}, {"amd", ""}, {"hwmon", ""}, {"nvml", ""}}));
}

TEST(Methods, AreRepeatedOrSeparatedByCommas) {
  const SourceSettings settings = parse_methods({"rapl,model:cpu=65W", "mock:constant=1W", "rapl"});
  EXPECT_FALSE(settings.automatic);
  EXPECT_EQ(settings.methods,
            (std::vector<Method>{{"rapl", ""}, {"model", "cpu=65W"}, {"mock", "constant=1W"}}));
}

TEST(Methods, ACommandKeepsItsCommas) {
  EXPECT_EQ(parse_methods({"rapl, command:pdu=awk -F, '{print $2}' f,g", "hwmon"}).methods,
            (std::vector<Method>{
                {"rapl", ""}, {"command", "pdu=awk -F, '{print $2}' f,g"}, {"hwmon", ""}}));
  EXPECT_EQ(parse_methods({"command:a=x", "command:b=y,z"}).methods,
            (std::vector<Method>{{"command", "a=x"}, {"command", "b=y,z"}}));
}

TEST(Methods, TheHelpHasEachWithItsArgument) {
  const std::string help = methods_help();
  EXPECT_THAT(help, testing::StartsWith("auto (pm_counters, rapl, amd, hwmon, nvml; "));
  EXPECT_THAT(help, testing::HasSubstr(", mock:constant=100W (invented, for tests), command:NAME"));
  EXPECT_THAT(help, testing::EndsWith(", ipmi, slurm, gcipu, nvml"));
}

TEST(Methods, MistakesAreNamed) {
  EXPECT_EQ(method_error("nvm"), "unknown method 'nvm' | did you mean 'nvml'?");
  EXPECT_EQ(
      method_error("zzzzzz"),
      "unknown method 'zzzzzz' | known are auto, pm_counters, rapl, amd, rocm, hwmon, model, mock, "
      "command, amdgpu, amdsmi, ipmi, slurm, gcipu, nvml");
  EXPECT_EQ(method_error("rapl:0"), "method 'rapl' takes no argument | ");
  EXPECT_EQ(method_error("mock"), "method 'mock' needs an argument | write mock:constant=100W");
  EXPECT_EQ(method_error("ipmi:1s"), "method 'ipmi' takes no argument | ");
  EXPECT_EQ(method_error("command:pdu"),
            "'pdu' names no command | command:NAME=COMMAND or command:NAME/5s=COMMAND");
  EXPECT_EQ(method_error("model:cpu=65"), "'65' is not a number with a unit | write it like 100W");
}

TEST(Methods, WhatCannotBeOpenedIsAnAbsence) {
  const TemporaryDirectory tree;
  SourceSettings settings = parse_methods({"rapl,mock:constant=1W"});
  settings.sysfs_root = tree.path();
  const Sources sources = open_sources(settings);
  ASSERT_EQ(sources.absences.size(), 1U);
  EXPECT_EQ(sources.absences[0].source, "rapl");
  ASSERT_EQ(sources.channels.size(), 1U);
  EXPECT_TRUE(sources.channels[0].additive);
}

/// A node with one MI300X, and a place where the fake AMD SMI, which shows it too, is found.
struct AmdNode {
  AmdNode() {
    std::filesystem::create_directories(tree.path() / "rocm/lib");
    std::filesystem::create_symlink(std::string(FAKE_NVML_DIRECTORY) + "/libamd_smi.so.26",
                                    tree.path() / "rocm/lib/libamd_smi.so");
    add_card("0", "0000:c1:00.0");
  }

  void add_card(const std::string& number, const std::string& address) const {
    const std::string device = "class/drm/card" + number + "/device/";
    tree.write(device + "vendor", "0x1002");
    tree.write(device + "uevent", "PCI_SLOT_NAME=" + address);
    tree.write(device + "hwmon/hwmon" + number + "/power1_input", "250000000");
  }

  /// The same card where sysfs lists the power meters of all drivers.
  void add_hwmon(const std::string& number, const std::string& address) const {
    const std::string hwmon = "class/hwmon/hwmon" + number + "/";
    tree.write(hwmon + "name", "amdgpu");
    tree.write(hwmon + "power1_input", "250000000");
    tree.write(hwmon + "device/uevent", "PCI_SLOT_NAME=" + address);
  }

  Sources opened(const std::vector<std::string>& methods, Owned owned = Owned::all) const {
    SourceSettings settings = parse_methods(methods);
    settings.sysfs_root = tree.path();
    settings.owned = owned;
    return open_sources(settings);
  }

  TemporaryDirectory tree;
  support::EnvironmentVariable rocm_path{"ROCM_PATH", (tree.path() / "rocm").string()};
};

/// Channels of AMD GPUs; a fake of NVIDIA's library may be loaded by another test.
std::vector<std::string> names(const Sources& sources, bool additive) {
  std::vector<std::string> result;
  for (const Channel& channel : sources.channels)
    if (channel.additive == additive && source_of(channel) != "nvml")
      result.push_back(channel.name);
  return result;
}

std::vector<std::string> own_devices(const Sources& sources) {
  std::vector<std::string> result;
  for (const Channel& channel : sources.channels)
    if (is_own_device(channel))
      result.push_back(channel.name);
  return result;
}

TEST(Methods, AutoAsksTheFirstSourceOfAmdGpusThatWorks) {
  const AmdNode node;
  EXPECT_EQ(names(node.opened({"auto"}), true), (std::vector<std::string>{"amdgpu:0:gpu"}));
  EXPECT_EQ(names(node.opened({"auto"}), false), (std::vector<std::string>{}));
  std::filesystem::remove_all(node.tree.path() / "class");
  EXPECT_EQ(names(node.opened({"auto"}), true), (std::vector<std::string>{"amdsmi:0:gpu"}));
}

TEST(Methods, RocmIsAnotherNameOfAmd) {
  const AmdNode node;
  for (const char* texts : {"rocm", "rocm,amd", "auto,rocm"})
    EXPECT_EQ(names(node.opened({texts}), true), (std::vector<std::string>{"amdgpu:0:gpu"}))
        << texts;
}

TEST(Methods, NamedSourcesOfOneCardAreAllReadAndTheFirstIsAdded) {
  const AmdNode node;
  const Sources sources = node.opened({"amdsmi,amdgpu"});
  EXPECT_EQ(names(sources, true), (std::vector<std::string>{"amdsmi:0:gpu"}));
  EXPECT_EQ(names(sources, false), (std::vector<std::string>{"amdgpu:0:gpu"}));
}

TEST(Methods, ACardThatHwmonHasTooCountsOnceAndOnlyIfVisible) {
  const AmdNode node;
  node.add_card("1", "0000:c6:00.0");
  node.add_hwmon("0", "0000:c1:00.0");
  node.add_hwmon("1", "0000:c6:00.0");
  const support::EnvironmentVariable visible("ROCR_VISIBLE_DEVICES", "0");
  const std::vector<std::string> first{"amdgpu:0:gpu"};
  for (const Owned owned : {Owned::all, Owned::devices}) {
    const Sources sources = node.opened({"amd,hwmon"}, owned);
    EXPECT_EQ(names(sources, true), first);
    EXPECT_EQ(names(sources, false),
              (std::vector<std::string>{"hwmon:hwmon0:gpu", "hwmon:hwmon1:amdgpu"}));
    EXPECT_EQ(own_devices(sources), first);
  }
  node.tree.write("cray/pm_counters/power", "900 W 1700000000000000 us");
  const Sources sources = node.opened({"pm_counters,amd,hwmon"});
  EXPECT_EQ(names(sources, true), (std::vector<std::string>{"pm_counters:node"}));
  EXPECT_EQ(own_devices(sources), first);
}

TEST(Methods, AnAbsenceSaysWhichOfSeveralItIs) {
  const Sources sources = open_sources(parse_methods({"command:pdu/5s=echo none"}));
  ASSERT_EQ(sources.absences.size(), 1U);
  EXPECT_EQ(sources.absences[0].source, "command:pdu/5s");
}

TEST(Quantities, CarryAUnit) {
  EXPECT_DOUBLE_EQ(parse_power_w("1.5kW"), 1500);
  EXPECT_DOUBLE_EQ(parse_power_w("65 W"), 65);
  EXPECT_DOUBLE_EQ(parse_interval_s("100ms"), 0.1);
  EXPECT_DOUBLE_EQ(parse_interval_s("2s"), 2);
  EXPECT_DOUBLE_EQ(parse_interval_s("250us"), 0.00025);
  for (const char* text : {"", "100", "ms", "-1s", "1h", "1 s s"})
    EXPECT_THROW(parse_interval_s(text), Error) << text;
}

}  // namespace
}  // namespace bench::energy
