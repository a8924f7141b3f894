#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/energy/core/channel.hpp>

namespace bench::energy {
namespace {

/// The scopes that include this one, innermost first; `=` before those of the same device only.
std::string outer_scopes(Scope inner) {
  std::string names;
  for (const Scope outer : all_scopes())
    if (const Inclusion included = inclusion(outer, inner); included != Inclusion::none)
      names +=
          (included == Inclusion::same_device ? " =" : " ") + std::string(unique_name_of(outer));
  return names;
}

struct ScopeCase {
  Scope inner;
  const char* outer;
};

class ScopeTest : public testing::TestWithParam<ScopeCase> {};

TEST_P(ScopeTest, IsIncludedInItsParentsAndTheirs) {
  EXPECT_EQ(outer_scopes(GetParam().inner), GetParam().outer);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, ScopeTest,
    testing::Values(ScopeCase{Scope::core, " =package =apu node"},
                    ScopeCase{Scope::uncore, " =package =apu node"},
                    ScopeCase{Scope::cpu_model, " package grace apu module node"},
                    ScopeCase{Scope::package, " =apu node"}, ScopeCase{Scope::apu, " node"},
                    ScopeCase{Scope::dram, " node"},
                    ScopeCase{Scope::cpu_rail, " =grace =module node"},
                    ScopeCase{Scope::soc_rail, " =grace =module node"},
                    ScopeCase{Scope::grace, " =module node"}, ScopeCase{Scope::gpu, " module node"},
                    ScopeCase{Scope::gpu_average, " =gpu module node"},
                    ScopeCase{Scope::gpu_module, " =gpu module node"},
                    ScopeCase{Scope::gpu_model, " =gpu =gpu_module module node"},
                    ScopeCase{Scope::module, " node"}, ScopeCase{Scope::ipu, " =board"},
                    ScopeCase{Scope::board, " node"}, ScopeCase{Scope::node_part, " node"},
                    ScopeCase{Scope::node, ""}, ScopeCase{Scope::node_meter, ""},
                    ScopeCase{Scope::platform, ""}, ScopeCase{Scope::mock, ""},
                    ScopeCase{Scope::other, ""}),
    [](const auto& test) { return std::string(unique_name_of(test.param.inner)); });

TEST(Scope, IsFoundByItsUniqueName) {
  std::set<std::string_view> names;
  for (const Scope scope : all_scopes()) {
    EXPECT_EQ(scope_of(unique_name_of(scope)), scope);
    names.insert(unique_name_of(scope));
  }
  EXPECT_EQ(names.size(), all_scopes().size());
  EXPECT_EQ(all_scopes().size(), static_cast<std::size_t>(Scope::other) + 1);
  EXPECT_EQ(scope_of("gpus"), std::nullopt);
}

struct IdentifierCase {
  std::string name;
  std::vector<std::string> texts;
  std::vector<std::string> expected;
};
class IdentifierTest : public testing::TestWithParam<IdentifierCase> {};

TEST_P(IdentifierTest, NoTwoAreAlike) {
  EXPECT_EQ(distinct_identifiers(GetParam().texts), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, IdentifierTest,
    testing::Values(IdentifierCase{"None", {}, {}},
                    IdentifierCase{"OtherCharacters", {"nvml:0:gpu", "a b"}, {"nvml_0_gpu", "a_b"}},
                    IdentifierCase{"Several",
                                   {"eval 1", "eval-1", "eval_1"},
                                   {"eval_1", "eval_1_2", "eval_1_3"}},
                    IdentifierCase{"ANumberThatIsANameItself",
                                   {"a 1", "a-1", "a 1 2"},
                                   {"a_1", "a_1_3", "a_1_2"}}),
    [](const auto& test) { return test.param.name; });

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

Channel unreadable(Channel channel) {
  channel.unreadable = "Permission denied";
  return channel;
}

Channel partly_owned(Channel channel) {
  channel.partly_owned = true;
  return channel;
}

Channel mirror(const std::string& name, const std::string& of) {
  Channel result = channel(name, Scope::package, 1);
  result.mirror_of = of;
  return result;
}

struct AdditiveCase {
  std::string name;
  std::vector<Channel> channels;
  std::vector<std::string> added;
  Owned owned = Owned::all;
};

class AdditiveTest : public testing::TestWithParam<AdditiveCase> {};

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
const Channel gpu_device = channel("gpu", Scope::gpu);

INSTANTIATE_TEST_SUITE_P(
    Energy, AdditiveTest,
    testing::Values(
        AdditiveCase{"PackageAndMemoryButNotItsPartsNorThePlatform",
                     {package, channel("dram", Scope::dram), channel("core", Scope::core),
                      channel("uncore", Scope::uncore), channel("psys", Scope::platform)},
                     {"package", "dram"}},
        AdditiveCase{
            "ModuleHoldsGraceAndItsRails", {module_0, grace_0, rail_0, soc_0}, {"module0"}},
        AdditiveCase{
            "GraceOfAnotherSocketStaysAdded", {module_0, grace_0, grace_1}, {"module0", "grace1"}},
        AdditiveCase{"GraceHoldsItsRails", {grace_0, rail_0, soc_0}, {"grace0"}},
        AdditiveCase{"RailsAloneAreAdded", {rail_0, soc_0}, {"rail0", "soc0"}},
        AdditiveCase{"ModuleHoldsTheGpu", {module_0, gpu_device}, {"module0"}},
        AdditiveCase{"GraceAndGpuAreApart", {grace_0, gpu_device}, {"grace0", "gpu"}},
        AdditiveCase{"GpuIsMeasuredOnce",
                     {gpu_device, channel("average", Scope::gpu_average),
                      channel("both", Scope::gpu_module)},
                     {"gpu"}},
        AdditiveCase{"NvmlModuleStandsInForAMissingGpu",
                     {channel("both", Scope::gpu_module, 1), gpu_device},
                     {"both", "gpu"}},
        AdditiveCase{
            "NodeHoldsAll",
            {package, gpu_device, channel("node", Scope::node, -1), channel("dram", Scope::dram)},
            {"node"}},
        AdditiveCase{"OfASharedNodeOnlyTheDevices",
                     {package, module_0, gpu_device, channel("average", Scope::gpu_average),
                      channel("node", Scope::node, -1), channel("mock", Scope::mock)},
                     {"gpu"},
                     Owned::devices},
        AdditiveCase{"OfASharedNodeAlsoIpus",
                     {channel("board", Scope::board), channel("ipu", Scope::ipu)},
                     {"ipu"},
                     Owned::devices},
        AdditiveCase{"OfASharedNodeNothing", {package, gpu_device}, {}, Owned::nothing},
        AdditiveCase{"AnEstimateGivesWayToASensor",
                     {channel("model", Scope::cpu_model, -1), package},
                     {"package"}},
        AdditiveCase{"AnEstimateStandsBesideAGpu",
                     {channel("model", Scope::cpu_model, -1), gpu_device},
                     {"model", "gpu"}},
        AdditiveCase{"OneCardInThreeSourcesIsAddedOnce",
                     {gpu_at("amdgpu", {"c1"}), gpu_at("hwmon", {"c1"}), gpu_at("amdsmi", {"c1"})},
                     {"amdgpu"}},
        AdditiveCase{
            "TwoCardsAreBothAdded",
            {gpu_at("amdgpu0", {"c1"}), gpu_at("hwmon0", {"c1"}), gpu_at("hwmon1", {"c6"})},
            {"amdgpu0", "hwmon1"}},
        AdditiveCase{"AMeterOfTwoDiesCoversThoseOfEach",
                     {gpu_at("both", {"c1", "c6"}), gpu_at("second", {"c6"})},
                     {"both"}},
        AdditiveCase{
            "CardsAtUnknownAddressesAreApart", {gpu_at("a", {}), gpu_at("b", {})}, {"a", "b"}},
        AdditiveCase{"OfTwoNodeMetersTheFinerCounts",
                     {channel("model", Scope::node_model, -1),
                      channel("pdu", Scope::node_meter, -1), channel("node", Scope::node, -1)},
                     {"node"}},
        AdditiveCase{
            "OfTwoNodeMetersAlikeTheFirstCounts",
            {channel("pm:node", Scope::node, -1), channel("hwmon:node", Scope::node, -1),
             channel("ipmi:a", Scope::node_meter, -1), channel("ipmi:b", Scope::node_meter, -1)},
            {"pm:node"}},
        AdditiveCase{"OfTwoMetersOutsideTheFirstCounts",
                     {channel("command:a", Scope::node_meter, -1),
                      channel("command:b", Scope::node_meter, -1)},
                     {"command:a"}},
        AdditiveCase{
            "TwoNodeMetersOfOneSourceAreTwoSupplies",
            {channel("hwmon:1:node", Scope::node, -1), channel("hwmon:2:node", Scope::node, -1)},
            {"hwmon:1:node", "hwmon:2:node"}},
        AdditiveCase{"AMeterOutsideHoldsAllToo",
                     {package, gpu_device, channel("pdu", Scope::node_meter, -1),
                      channel("model", Scope::cpu_model, -1)},
                     {"pdu"}},
        AdditiveCase{"TheModelOfANodeHoldsItsParts",
                     {package, gpu_device, channel("model", Scope::node_model, -1)},
                     {"model"}},
        AdditiveCase{"AnApuHoldsItsPackage",
                     {channel("apu0", Scope::apu, 0), channel("package0", Scope::package, 0),
                      channel("package1", Scope::package, 1)},
                     {"apu0", "package1"}},
        AdditiveCase{"PartsOfANodeAreNeverAdded",
                     {channel("accel0", Scope::node_part), gpu_device},
                     {"gpu"}},
        AdditiveCase{"AModelOfAGpuGivesWayToItsSensor",
                     {channel("model0", Scope::gpu_model, 0),
                      channel("model1", Scope::gpu_model, 1), gpu_device},
                     {"model1", "gpu"}},
        AdditiveCase{
            "OfTwoModelsOfADeviceTheFirstCounts",
            {channel("cpu a", Scope::cpu_model, -1), channel("cpu b", Scope::cpu_model, -1),
             channel("gpu0 a", Scope::gpu_model, 0), channel("gpu1", Scope::gpu_model, 1),
             channel("gpu0 b", Scope::gpu_model, 0)},
            {"cpu a", "gpu0 a", "gpu1"}},
        AdditiveCase{"ABoardHoldsItsIpus",
                     {channel("ipu0", Scope::ipu, 0), channel("board0", Scope::board, 0),
                      channel("ipu1", Scope::ipu, 1)},
                     {"board0", "ipu1"}},
        AdditiveCase{"UnknownMetersAreNeverAdded", {channel("psu", Scope::other, -1)}, {}},
        AdditiveCase{"AnUnreadableDeviceIsAHoleInTheSum",
                     {channel("rapl:0", Scope::package, 0),
                      unreadable(channel("rapl:1", Scope::package, 1))},
                     {"rapl:0", "rapl:1"}},
        AdditiveCase{
            "AnUnreadablePartOfWhatIsMeasuredIsNoHole",
            {package, unreadable(channel("core", Scope::core)), channel("node", Scope::node, -1)},
            {"node"}},
        AdditiveCase{"PartsStandForAnUnreadableWhole",
                     {unreadable(channel("node", Scope::node, -1)), package, gpu_device},
                     {"package", "gpu"}},
        AdditiveCase{"AnUnreadableNodeMeterGivesWayToAnother",
                     {unreadable(channel("pm:node", Scope::node, -1)),
                      channel("ipmi", Scope::node_meter, -1)},
                     {"ipmi"}},
        AdditiveCase{"PartsDoNotStandForAModuleWhoseLikeIsMeasured",
                     {channel("hwmon:0", Scope::module, 0),
                      unreadable(channel("hwmon:1", Scope::module, 1)), grace_1},
                     {"hwmon:0", "hwmon:1"}},
        AdditiveCase{"AReadableSourceOfACardGoesBeforeAnUnreadableOne",
                     {unreadable(gpu_at("amdgpu", {"c1"})), gpu_at("hwmon", {"c1"})},
                     {"hwmon"}},
        AdditiveCase{"ADeviceThatOthersMayUseIsInNoTotal",
                     {partly_owned(gpu_at("nvml:0", {})), package},
                     {"package"}},
        AdditiveCase{"TwoChannelsOfOneCounterAreAddedOnce",
                     {channel("die0", Scope::package, 0), mirror("die1", "die0")},
                     {"die0"}}),
    [](const auto& test) { return test.param.name; });

TEST(Additive, NamesTheInnermostParent) {
  std::vector<Channel> channels{module_0, grace_0, rail_0};
  mark_additive(channels);
  EXPECT_EQ(channels[0].parent, "");
  EXPECT_EQ(channels[1].parent, "module0");
  EXPECT_EQ(channels[2].parent, "grace0");
}

TEST(Additive, NamesTheSourceThatCountsForACard) {
  std::vector<Channel> channels{gpu_at("amdgpu", {"c1"}), gpu_at("amdsmi", {"c1"})};
  mark_additive(channels);
  EXPECT_EQ(channels[1].parent, "amdgpu");
}

TEST(Additive, OfADeviceOneChannelCountsAlsoUnderAMeterOfTheNode) {
  for (const bool with_node : {false, true}) {
    std::vector<Channel> channels{gpu_at("amdgpu", {"c1"}), gpu_at("hwmon", {"c1"}), gpu_device,
                                  channel("model0", Scope::gpu_model, 0),
                                  channel("model1", Scope::gpu_model, 1)};
    if (with_node)
      channels.push_back(channel("node", Scope::node, -1));
    mark_additive(channels);
    std::vector<std::string> own;
    for (const Channel& entry : channels)
      if (is_own_device(entry))
        own.push_back(entry.name);
    EXPECT_EQ(own, (std::vector<std::string>{"amdgpu", "gpu", "model1"}));
  }
}

}  // namespace
}  // namespace bench::energy
