#include "energy/fixtures.hpp"
#include "support/environment_variable.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/sources/amd_devices.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr unsigned mi250x = 0x7408;
constexpr unsigned mi300x = 0x74a1;

AmdDevice device(const std::string& bus, unsigned product = mi300x, bool silent = false) {
  AmdDevice result;
  result.pci_address = "0000:" + bus + ":00.0";
  result.product = product;
  result.silent = silent;
  return result;
}

struct VisibleCase {
  std::string name;
  AmdVisibility visibility;
  std::vector<std::size_t> expected;
};
class VisibleAmdDevicesTest : public testing::TestWithParam<VisibleCase> {};

TEST_P(VisibleAmdDevicesTest, AreThoseOfRocm) {
  std::vector<AmdDevice> devices{device("c1"), device("c6"), device("d1"), device("d6")};
  for (std::size_t i = 0; i < devices.size(); ++i)
    devices[i].unique_id = 0xabcd0 + i;
  EXPECT_EQ(visible_amd_devices(GetParam().visibility, devices), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, VisibleAmdDevicesTest,
    testing::Values(VisibleCase{"AllWithoutVariables", {}, {0, 1, 2, 3}},
                    VisibleCase{"RocrByNumber", {.rocr = "2,0"}, {2, 0}},
                    VisibleCase{"RocrByUniqueId", {.rocr = "GPU-00000000000ABCD3,0"}, {3, 0}},
                    VisibleCase{"RocrEmptyIsNone", {.rocr = ""}, {}},
                    VisibleCase{"AListEndsAtTheFirstThatIsNone", {.rocr = "1,9,2"}, {1}},
                    VisibleCase{"ANegativeNumberIsNone", {.hip = "-1"}, {}},
                    VisibleCase{"AnUnknownUniqueIdIsNone", {.rocr = "GPU-1,0"}, {}},
                    VisibleCase{"HipCountsWhatRocrLeft", {.rocr = "2,3", .hip = "1"}, {3}},
                    VisibleCase{"CudaIsReadAsHip", {.cuda = "1,2"}, {1, 2}},
                    VisibleCase{"HipGoesBeforeCuda", {.hip = "0", .cuda = "1,2"}, {0}},
                    VisibleCase{"AnEmptyHipIsNotSet", {.hip = "", .cuda = "1"}, {1}},
                    VisibleCase{"NumbersFollowTheComputeDriver",
                                {.rocr = "0", .compute_order = {"0000:d1:00.0", "0000:c1:00.0"}},
                                {2}},
                    VisibleCase{"WhatTheComputeDriverDoesNotKnowComesLast",
                                {.compute_order = {"0000:d1:00.0"}},
                                {2, 0, 1, 3}},
                    VisibleCase{"InAJobsCgroupOnlyItsOwnAreCounted",
                                {.rocr = "1",
                                 .compute_order = {"0000:c6:00.0", "0000:d6:00.0"},
                                 .restricted = true},
                                {3}}),
    [](const auto& test) { return test.param.name; });

/// What the kernel shows of a GPU at c1, near the CPUs of package 1.
struct ApuCase {
  std::string name;
  std::vector<std::pair<std::string, std::string>> files;
  bool is_apu;
};
class AmdApusTest : public testing::TestWithParam<ApuCase> {};

TEST_P(AmdApusTest, AreThoseWhosePowerIncludesTheCpu) {
  const TemporaryDirectory sysfs;
  sysfs.write("class/drm/card0/device/vendor", "0x1002");
  sysfs.write("class/drm/card0/device/uevent", "PCI_SLOT_NAME=0000:c1:00.0");
  sysfs.write("class/drm/card0/device/local_cpulist", "24-47,120-143");
  sysfs.write("devices/system/cpu/cpu24/topology/physical_package_id", "1");
  for (const auto& [file, text] : GetParam().files)
    sysfs.write(file, text);
  const AmdVisibility visibility = amd_visibility(sysfs.path());
  EXPECT_EQ(visibility.apus, GetParam().is_apu ? AmdApus({{"0000:c1:00.0", 1}}) : AmdApus());
  std::vector<std::string> notes;
  const std::vector<AmdDevice> devices{device("c1")};
  const Channel channel = amd_meters("amdsmi", devices, visibility, notes).at(0).channel;
  EXPECT_EQ(channel.name, GetParam().is_apu ? "amdsmi:0:apu" : "amdsmi:0:gpu");
  EXPECT_EQ(channel.scope, GetParam().is_apu ? Scope::apu : Scope::gpu);
  EXPECT_EQ(channel.device, GetParam().is_apu ? 1 : -1);
}

const std::string product_file = "class/drm/card0/device/device";
const std::string table_file = "class/drm/card0/device/gpu_metrics";
const std::string node_file = "class/kfd/kfd/topology/nodes/1/properties";
INSTANTIATE_TEST_SUITE_P(
    Energy, AmdApusTest,
    testing::Values(
        ApuCase{"Mi300a", {{product_file, "0x74a0"}}, true},
        ApuCase{"Mi300x", {{product_file, "0x74a1"}}, false},
        ApuCase{"ByItsTable", {{table_file, std::string("\x78\0\2\3", 4)}}, true},
        ApuCase{"WithTheTableOfAGpu", {{table_file, std::string("\x78\0\1\3", 4)}}, false},
        ApuCase{"ByTheComputeDriver",
                {{node_file, "cpu_cores_count 8\nsimd_count 44\nlocation_id 49408\ndomain 0\n"}},
                true},
        ApuCase{"BesideACpu",
                {{node_file, "cpu_cores_count 0\nsimd_count 44\nlocation_id 49408\ndomain 0\n"}},
                false}),
    [](const auto& test) { return test.param.name; });

std::vector<std::string> names(const std::vector<AmdMeter>& meters) {
  std::vector<std::string> result;
  for (const AmdMeter& meter : meters)
    result.push_back(meter.channel.name);
  return result;
}

TEST(AmdMeters, AreNumberedByPciAddress) {
  const std::vector<AmdDevice> devices{device("d1"), device("c1")};
  std::vector<std::string> notes;
  const auto meters = amd_meters("amdsmi", devices, {.rocr = "0"}, notes);
  ASSERT_THAT(names(meters), ElementsAre("amdsmi:0:gpu"));
  EXPECT_EQ(meters[0].device, 1U);
  EXPECT_THAT(meters[0].channel.pci_addresses, ElementsAre("0000:c1:00.0"));
  EXPECT_THAT(notes, IsEmpty());
}

TEST(AmdMeters, TheDiesOfAnMi250HaveOneMeter) {
  const std::vector<AmdDevice> devices{device("c1", mi250x), device("c6", mi250x, true),
                                       device("d1", mi250x), device("d6", mi250x, true)};
  std::vector<std::string> notes;
  const auto meters = amd_meters("amdgpu", devices, {}, notes);
  ASSERT_THAT(names(meters), ElementsAre("amdgpu:0+1:gpu", "amdgpu:2+3:gpu"));
  EXPECT_EQ(meters[1].device, 2U);
  EXPECT_THAT(meters[1].channel.pci_addresses, ElementsAre("0000:d1:00.0", "0000:d6:00.0"));
  EXPECT_EQ(meters[0].channel.description, "AMD GPU 0000:c1:00.0 and 0000:c6:00.0");
  EXPECT_THAT(notes, IsEmpty());
}

TEST(AmdMeters, AJobWithOneDieIsToldThatItsMeterIsShared) {
  const std::vector<AmdDevice> devices{device("c1", mi250x), device("c6", mi250x, true)};
  for (const char* die : {"0", "1"}) {
    std::vector<std::string> notes;
    const auto meters = amd_meters("amdgpu", devices, {.rocr = die}, notes);
    ASSERT_THAT(names(meters), ElementsAre("amdgpu:0+1:gpu"));
    EXPECT_EQ(meters[0].device, 0U);
    EXPECT_THAT(notes, ElementsAre("amdgpu:0+1:gpu: measures 0000:c1:00.0 and 0000:c6:00.0 "
                                   "together, of which the program has only a part"));
    EXPECT_TRUE(meters[0].channel.partly_owned);
  }
}

TEST(AmdMeters, ASilentGpuOfOneDieIsNotTakenForASecondDie) {
  const std::vector<AmdDevice> devices{device("c1"), device("c6", mi300x, true)};
  std::vector<std::string> notes;
  std::vector<Channel> unreadable;
  EXPECT_THAT(names(amd_meters("amdsmi", devices, {}, notes, &unreadable)),
              ElementsAre("amdsmi:0:gpu"));
  EXPECT_THAT(notes, ElementsAre("amdsmi:1:gpu: 0000:c6:00.0 shows neither power nor energy"));
  ASSERT_EQ(unreadable.size(), 1U);
  EXPECT_EQ(unreadable[0].name, "amdsmi:1:gpu");
  EXPECT_EQ(unreadable[0].unreadable, "0000:c6:00.0 shows neither power nor energy");
}

TEST(AmdMeters, ASecondDieWithoutItsFirstIsNotMeasured) {
  const std::vector<AmdDevice> devices{device("c6", mi250x, true)};
  std::vector<std::string> notes;
  EXPECT_THROW(amd_meters("amdsmi", devices, {}, notes), Error);
  EXPECT_THAT(notes, ElementsAre("amdsmi:0:gpu: 0000:c6:00.0 shows neither power nor energy"));
}

TEST(AmdMeters, DiesWithAMeterEachStayApart) {
  const std::vector<AmdDevice> devices{device("c1", mi250x), device("c6", mi250x)};
  std::vector<std::string> notes;
  EXPECT_THAT(names(amd_meters("amdsmi", devices, {}, notes)),
              ElementsAre("amdsmi:0:gpu", "amdsmi:1:gpu"));
}

TEST(AmdMeters, PartitionsOfOneGpuAreOneDevice) {
  const std::vector<AmdDevice> devices{device("c1"), device("c1", mi300x, true), device("c6")};
  std::vector<std::string> notes;
  const auto meters = amd_meters("amdsmi", devices, {}, notes);
  ASSERT_THAT(names(meters), ElementsAre("amdsmi:0:gpu", "amdsmi:1:gpu"));
  EXPECT_EQ(meters[1].device, 2U);
  EXPECT_THAT(meters[0].channel.pci_addresses, ElementsAre("0000:c1:00.0"));
}

TEST(AmdMeters, AProgramThatSeesNoneIsAnAbsence) {
  const std::vector<AmdDevice> devices{device("c1"), device("c6")};
  std::vector<std::string> notes;
  EXPECT_EQ(message_of([&] { amd_meters("amdsmi", devices, {.rocr = ""}, notes); }),
            "the program sees none of 2 AMD GPUs");
}

TEST(AmdDevices, PartitionAndFunctionAreToldApart) {
  EXPECT_EQ(pci_address_of(0xc100), "0000:c1:00.0");
  EXPECT_EQ(pci_address_of(0x1'3000'c10b), "0001:c1:01.3");
}

TEST(AmdVisibility, FollowsTheNodesOfTheComputeDriver) {
  const support::EnvironmentVariable rocr("ROCR_VISIBLE_DEVICES", "1");
  const support::EnvironmentVariable hip("HIP_VISIBLE_DEVICES", {});
  const support::EnvironmentVariable cuda("CUDA_VISIBLE_DEVICES", {});
  const TemporaryDirectory tree;
  const std::string nodes = "class/kfd/kfd/topology/nodes/";
  tree.write(nodes + "0/properties", "cpu_cores_count 64\nsimd_count 0");
  tree.write(nodes + "2/properties", "simd_count 440\nlocation_id 49408\ndomain 0");
  tree.write(nodes + "10/properties", "simd_count 440\nlocation_id 50688\ndomain 1");
  const AmdVisibility open = amd_visibility(tree.path());
  EXPECT_EQ(open.rocr, "1");
  EXPECT_FALSE(open.hip || open.cuda || open.restricted);
  EXPECT_THAT(open.compute_order, ElementsAre("0000:c1:00.0", "0001:c6:00.0"));
  tree.write(nodes + "3/properties", "");  // reads of what a cgroup forbids fail
  EXPECT_TRUE(amd_visibility(tree.path()).restricted);
}

}  // namespace
}  // namespace bench::energy
