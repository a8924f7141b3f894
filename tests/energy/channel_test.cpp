#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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

}  // namespace
}  // namespace bench::energy
