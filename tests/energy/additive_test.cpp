#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/energy/meter/additive.hpp>
#include <bench/energy/meter/channel.hpp>
#include <bench/energy/meter/scope.hpp>

namespace bench::energy {
namespace {

Channel channel(const std::string& name, Scope scope, int device = 0) {
  Channel result;
  result.name = name;
  result.scope = scope;
  result.device = device;
  return result;
}

Channel gpu_at(const std::string& name, std::vector<std::string> pci_addresses) {
  Channel result = channel(name, Scope::gpu, -1);
  result.pci_addresses = std::move(pci_addresses);
  return result;
}

struct Case {
  std::string name;
  std::vector<Channel> channels;
  std::vector<std::string> added;
  Owned owned = Owned::all;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class AdditiveTest : public testing::TestWithParam<Case> {};

TEST_P(AdditiveTest, NothingIsCountedTwice) {
  std::vector<Channel> channels = GetParam().channels;
  mark_additive(channels, GetParam().owned);
  std::vector<std::string> added;
  for (const Channel& entry : channels)
    if (entry.additive)
      added.push_back(entry.name);
  EXPECT_EQ(added, GetParam().added);
}

const Channel package = channel("package", Scope::package);
const Channel module_0 = channel("module0", Scope::module, 0);
const Channel grace_0 = channel("grace0", Scope::grace, 0);
const Channel grace_1 = channel("grace1", Scope::grace, 1);
const Channel rail_0 = channel("rail0", Scope::cpu_rail, 0);
const Channel soc_0 = channel("soc0", Scope::soc_rail, 0);
const Channel gpu = channel("gpu", Scope::gpu);

INSTANTIATE_TEST_SUITE_P(
    Energy, AdditiveTest,
    testing::Values(
        Case{"PackageAndMemoryButNotItsPartsNorThePlatform",
             {package, channel("dram", Scope::dram), channel("core", Scope::core),
              channel("uncore", Scope::uncore), channel("psys", Scope::platform)},
             {"package", "dram"}},
        Case{"ModuleHoldsGraceAndItsRails", {module_0, grace_0, rail_0, soc_0}, {"module0"}},
        Case{"GraceOfAnotherSocketStaysAdded", {module_0, grace_0, grace_1}, {"module0", "grace1"}},
        Case{"GraceHoldsItsRails", {grace_0, rail_0, soc_0}, {"grace0"}},
        Case{"RailsAloneAreAdded", {rail_0, soc_0}, {"rail0", "soc0"}},
        Case{"ModuleHoldsTheGpu", {module_0, gpu}, {"module0"}},
        Case{"GraceAndGpuAreApart", {grace_0, gpu}, {"grace0", "gpu"}},
        Case{"GpuIsMeasuredOnce",
             {gpu, channel("average", Scope::gpu_average), channel("both", Scope::gpu_module)},
             {"gpu"}},
        Case{"NvmlModuleStandsInForAMissingGpu",
             {channel("both", Scope::gpu_module, 1), gpu},
             {"both", "gpu"}},
        Case{"NodeHoldsAll",
             {package, gpu, channel("node", Scope::node, -1), channel("dram", Scope::dram)},
             {"node"}},
        Case{"OfASharedNodeOnlyTheDevices",
             {package, module_0, gpu, channel("average", Scope::gpu_average),
              channel("node", Scope::node, -1), channel("mock", Scope::mock)},
             {"gpu"},
             Owned::devices},
        Case{"OfASharedNodeAlsoIpus",
             {channel("board", Scope::board), channel("ipu", Scope::ipu)},
             {"ipu"},
             Owned::devices},
        Case{"OfASharedNodeNothing", {package, gpu}, {}, Owned::nothing},
        Case{"AnEstimateGivesWayToASensor",
             {channel("model", Scope::cpu_model, -1), package},
             {"package"}},
        Case{"AnEstimateStandsBesideAGpu",
             {channel("model", Scope::cpu_model, -1), gpu},
             {"model", "gpu"}},
        Case{"OneCardInThreeSourcesIsAddedOnce",
             {gpu_at("amdgpu", {"c1"}), gpu_at("hwmon", {"c1"}), gpu_at("rocm", {"c1"})},
             {"amdgpu"}},
        Case{"TwoCardsAreBothAdded",
             {gpu_at("amdgpu0", {"c1"}), gpu_at("hwmon0", {"c1"}), gpu_at("hwmon1", {"c6"})},
             {"amdgpu0", "hwmon1"}},
        Case{"AMeterOfTwoDiesCoversThoseOfEach",
             {gpu_at("both", {"c1", "c6"}), gpu_at("second", {"c6"})},
             {"both"}},
        Case{"CardsAtUnknownAddressesAreApart", {gpu_at("a", {}), gpu_at("b", {})}, {"a", "b"}},
        Case{"OfTwoNodeMetersTheFinerCounts",
             {channel("model", Scope::node_model, -1), channel("pdu", Scope::node_meter, -1),
              channel("node", Scope::node, -1)},
             {"node"}},
        Case{"OfTwoNodeMetersAlikeTheFirstCounts",
             {channel("pm:node", Scope::node, -1), channel("hwmon:node", Scope::node, -1),
              channel("ipmi:a", Scope::node_meter, -1), channel("ipmi:b", Scope::node_meter, -1)},
             {"pm:node"}},
        Case{"OfTwoMetersOutsideTheFirstCounts",
             {channel("command:a", Scope::node_meter, -1),
              channel("command:b", Scope::node_meter, -1)},
             {"command:a"}},
        Case{"TwoNodeMetersOfOneSourceAreTwoSupplies",
             {channel("hwmon:1:node", Scope::node, -1), channel("hwmon:2:node", Scope::node, -1)},
             {"hwmon:1:node", "hwmon:2:node"}},
        Case{"AMeterOutsideHoldsAllToo",
             {package, gpu, channel("pdu", Scope::node_meter, -1),
              channel("model", Scope::cpu_model, -1)},
             {"pdu"}},
        Case{"TheModelOfANodeHoldsItsParts",
             {package, gpu, channel("model", Scope::node_model, -1)},
             {"model"}},
        Case{"PartsOfANodeAreNeverAdded", {channel("accel0", Scope::node_part), gpu}, {"gpu"}},
        Case{"AModelOfAGpuGivesWayToItsSensor",
             {channel("model0", Scope::gpu_model, 0), channel("model1", Scope::gpu_model, 1), gpu},
             {"model1", "gpu"}},
        Case{"ABoardHoldsItsIpus",
             {channel("ipu0", Scope::ipu, 0), channel("board0", Scope::board, 0),
              channel("ipu1", Scope::ipu, 1)},
             {"board0", "ipu1"}},
        Case{"UnknownMetersAreNeverAdded", {channel("psu", Scope::other, -1)}, {}}),
    [](const auto& test) { return test.param.name; });

TEST(Additive, NamesTheInnermostParent) {
  std::vector<Channel> channels{module_0, grace_0, rail_0};
  mark_additive(channels);
  EXPECT_EQ(channels[0].parent, "");
  EXPECT_EQ(channels[1].parent, "module0");
  EXPECT_EQ(channels[2].parent, "grace0");
}

TEST(Additive, NamesTheSourceThatCountsForACard) {
  std::vector<Channel> channels{gpu_at("amdgpu", {"c1"}), gpu_at("rocm", {"c1"})};
  mark_additive(channels);
  EXPECT_EQ(channels[1].parent, "amdgpu");
}

}  // namespace
}  // namespace bench::energy
