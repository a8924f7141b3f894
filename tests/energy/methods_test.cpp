#include "energy/fixtures.hpp"
#include "support/environment_variable.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/energy/meter/channel.hpp>
#include <bench/energy/meter/units.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/energy/sources/source_method.hpp>

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
  EXPECT_EQ(method_error("zzzzzz"),
            "unknown method 'zzzzzz' | known are auto, pm_counters, rapl, amd, hwmon, model, mock, "
            "command, amdgpu, rocm, amdsmi, ipmi, slurm, gcipu, nvml");
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

/// A node with one MI300X, and a place where the fake ROCm SMI, which shows it too, is found.
struct AmdNode {
  AmdNode() {
    std::filesystem::create_directories(tree.path() / "rocm/lib");
    std::filesystem::create_symlink(std::string(FAKE_NVML_DIRECTORY) + "/librocm_smi64.so.7",
                                    tree.path() / "rocm/lib/librocm_smi64.so");
    const std::string device = "class/drm/card0/device/";
    tree.write(device + "vendor", "0x1002");
    tree.write(device + "uevent", "PCI_SLOT_NAME=0000:c1:00.0");
    tree.write(device + "hwmon/hwmon0/power1_input", "250000000");
  }

  Sources opened(const std::vector<std::string>& methods) const {
    SourceSettings settings = parse_methods(methods);
    settings.sysfs_root = tree.path();
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

TEST(Methods, AutoAsksTheFirstSourceOfAmdGpusThatWorks) {
  const AmdNode node;
  EXPECT_EQ(names(node.opened({"auto"}), true), (std::vector<std::string>{"amdgpu:0:gpu"}));
  EXPECT_EQ(names(node.opened({"auto"}), false), (std::vector<std::string>{}));
  std::filesystem::remove_all(node.tree.path() / "class");
  EXPECT_EQ(names(node.opened({"auto"}), true), (std::vector<std::string>{"rocm:0:gpu"}));
}

TEST(Methods, NamedSourcesOfOneCardAreAllReadAndTheFirstIsAdded) {
  const AmdNode node;
  const Sources sources = node.opened({"rocm,amdgpu"});
  EXPECT_EQ(names(sources, true), (std::vector<std::string>{"rocm:0:gpu"}));
  EXPECT_EQ(names(sources, false), (std::vector<std::string>{"amdgpu:0:gpu"}));
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
