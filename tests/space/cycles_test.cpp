#include "space/run_fixture.hpp"
#include "support/temp_directory.hpp"

#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/space/graph.hpp>
#include <bench/space/variables.hpp>
#include <bench/space/workpackages.hpp>

namespace bench::space {
namespace {

using testing::ElementsAre;

struct Case {
  std::string mode;
  std::vector<std::string> values;  ///< In one; in two, both cycles; in three.
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.mode;
}

class UpdateChainTest : public RunFixture, public testing::WithParamInterface<Case> {};

/// One step that uses the set, one below that uses it for two cycles, one below that does not.
TEST_P(UpdateChainTest, HasTheValuesOfJube) {
  plan("parameterset: {name: p, parameter: {a: {update_mode: " + GetParam().mode +
       ", _: $jube_step_name/$jube_wp_id/$jube_wp_cycle}}}\n"
       "step: [{name: one, use: p}, {name: two, depend: one, use: p, cycles: 2},\n"
       "       {name: three, depend: two}]\n");
  const Graph graph = grown();
  ASSERT_EQ(graph.all().size(), 3U);
  const auto value = [&](long long id, int cycle) {
    return graph.parameters_in_cycle(graph.at(id), cycle).at(0).second;
  };
  EXPECT_EQ((std::vector<std::string>{value(0, 0), value(1, 0), value(1, 1), value(2, 0)}),
            GetParam().values);
  EXPECT_EQ(graph.at(1).parameters.at(0).second, value(1, 0));
  EXPECT_EQ(graph.at(2).parameters.at(0).second, value(2, 0));
}

INSTANTIATE_TEST_SUITE_P(
    Modes, UpdateChainTest,
    testing::Values(Case{"never", {"one/0/0", "one/0/0", "one/0/0", "one/0/0"}},
                    Case{"use", {"one/0/0", "two/1/0", "two/1/0", "two/1/0"}},
                    Case{"step", {"one/0/0", "two/1/0", "two/1/0", "three/2/0"}},
                    Case{"cycle", {"one/0/0", "two/1/0", "two/1/1", "three/2/0"}},
                    Case{"always", {"one/0/0", "two/1/0", "two/1/1", "three/2/0"}}),
    [](const auto& one) { return one.param.mode; });

TEST_F(RunFixture, KnowsTheVariablesOfACycle) {
  plan("step: {name: a, cycles: 3}\n");
  const Graph graph = grown();
  EXPECT_EQ(graph.variables_of(graph.at(0), 2).at("jube_wp_cycle"), "2");
  EXPECT_EQ(graph.variables_of(graph.at(0)).at("jube_step_cycles"), "3");
}

TEST_F(RunFixture, SharedCommandsKnowNoWorkpackage) {
  plan("name: demo\nstep: {name: a, iterations: 2}\n");
  const Graph graph = grown();
  std::vector<std::string> names;
  for (const auto& [name, value] : graph.shared_variables_of(graph.at(0)))
    if (!name.starts_with("jube_platform_"))
      names.push_back(name);
  EXPECT_THAT(names,
              ElementsAre("jube_benchmark_home", "jube_benchmark_id", "jube_benchmark_name",
                          "jube_benchmark_padid", "jube_benchmark_rundir", "jube_benchmark_start",
                          "jube_step_cycles", "jube_step_iterations", "jube_step_name"));
}

TEST_F(RunFixture, KnowsTheActiveTags) {
  plan(
      "parameterset: {name: p, parameter: [{name: a, mode: tag, _: fast}, {name: b, mode: tag, _: "
      "slow}]}\nstep: {name: s, use: p}\n");
  run_.metadata.tags = "big,fast";
  evaluator_ = evaluator_of(run_);
  EXPECT_THAT(texts_of(grown().all()), ElementsAre("0 s() fast/ i0 c0"));
}

TEST(CycleParameters, AreReadAsTheyWereKeptLast) {
  const support::TempDirectory directory;
  EXPECT_TRUE(kept_cycle_parameters(directory.path()).empty());
  keep_cycle_parameters(directory.path(), {{"a", "1"}});
  const workspace::Parameters last{{"a", "x=y\nz\n"}, {"b", ""}};
  keep_cycle_parameters(directory.path(), last);
  EXPECT_EQ(kept_cycle_parameters(directory.path()), last);
}

}  // namespace
}  // namespace bench::space
