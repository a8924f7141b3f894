#include "space/fixture.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/expand.hpp>

namespace bench::space {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Step `t` below step `s`: `p` is the set of `s`, `q` that of `t`. Expanded on top of one parent
/// with one value for each parameter of `p`.
Expansion expand_below(const model::Benchmark& benchmark, const std::vector<std::string>& values,
                       const Values& constants = {}) {
  const auto& parameters = benchmark.parameter_set("p")->parameters;
  Origin origin;
  for (std::size_t k = 0; k < parameters.size(); ++k)
    origin.inherited.push_back({&parameters[k], values.at(k)});
  return expansion_of(benchmark, "t", constants, {origin});
}

model::Benchmark below(const std::string& inherited, const std::string& own,
                       const std::string& use = "q") {
  return benchmark_of("parameterset:\n  - {name: p, parameter: " + inherited +
                      "}\n  - {name: q, parameter: " + own +
                      "}\nstep: [{name: s, use: p}, {name: t, depend: s, use: '" + use + "'}]\n");
}

struct UpdateCase {
  std::string name;
  std::string mode;
  std::string without_use;  ///< Value in a step that does not use the set.
  std::string with_use;
};

class UpdateModeTest : public testing::TestWithParam<UpdateCase> {
 protected:
  static std::string value(const std::string& use) {
    const auto benchmark =
        below("{a: {update_mode: " + GetParam().mode + ", _: $jube_step_name}}", "{b: 1}", use);
    const auto expansion = expand_below(benchmark, {"s"}, {{"jube_step_name", "t"}});
    return *expansion.combinations.at(0).find("a");
  }
};

TEST_P(UpdateModeTest, MakesAnewInANewStep) {
  EXPECT_EQ(value("q"), GetParam().without_use);
}

TEST_P(UpdateModeTest, MakesAnewWhereTheSetIsUsed) {
  EXPECT_EQ(value("q,p"), GetParam().with_use);
}

INSTANTIATE_TEST_SUITE_P(Modes, UpdateModeTest,
                         testing::Values(UpdateCase{"Never", "never", "s", "s"},
                                         UpdateCase{"Use", "use", "s", "t"},
                                         UpdateCase{"Step", "step", "t", "t"},
                                         UpdateCase{"Cycle", "cycle", "s", "s"},
                                         UpdateCase{"Always", "always", "t", "t"}),
                         [](const auto& one) { return one.param.name; });

TEST(UpdateMode, ATemplateIsExpandedAgain) {
  const auto benchmark = below("{a: {update_mode: step, _: '1,2'}, k: 'p,q'}", "{b: 0}");
  EXPECT_THAT(texts_of(expand_below(benchmark, {"2", "q"})), ElementsAre("0/1/q", "0/2/q"));
}

TEST(UpdateMode, ATemplateOfAlwaysKeepsWhatWasChosenUnlessTheSetIsUsed) {
  const std::string inherited = "{a: {update_mode: always, _: 'x,$jube_step_name-y'}, k: 'p,q'}";
  const auto kept = below(inherited, "{b: 0}");
  EXPECT_THAT(texts_of(expand_below(kept, {"x", "q"})), ElementsAre("0/x/q"));
  const auto used = below(inherited, "{b: 0}", "q,p");
  EXPECT_THAT(texts_of(expand_below(used, {"x", "q"}, {{"jube_step_name", "t"}})),
              ElementsAre("0/x/q", "0/t-y/q"));
}

TEST(UpdateMode, ATemplateThatAScriptMakesForAlwaysKeepsWhatWasChosen) {
  const auto kept =
      below("{a: {update_mode: always, mode: python, _: \"'x,y'\"}, k: 'p,q'}", "{b: 0}");
  EXPECT_THAT(texts_of(expand_below(kept, {"x", "q"})), ElementsAre("0/x/q"));
  EXPECT_THAT(texts_of(expand_below(kept, {"z", "q"})), ElementsAre("0/x/q", "0/y/q"));
}

TEST(UpdateMode, WhatItUsesMayBeMadeAnewToo) {
  const auto benchmark = below(
      "{a: {update_mode: step, _: $jube_step_name}, b: {update_mode: step, mode: python, _: "
      "\"'$a'*2\"}}",
      "{c: $b}");
  EXPECT_THAT(texts_of(expand_below(benchmark, {"s", "ss"}, {{"jube_step_name", "t"}})),
              ElementsAre("tt/t/tt"));
}

class RedefinitionTest : public testing::TestWithParam<std::pair<std::string, bool>> {};

TEST_P(RedefinitionTest, ReplacesWhereItsOwnModeMakesAnew) {
  const auto& [mode, replaces] = GetParam();
  const auto benchmark = below("{k: 1}", "{k: {update_mode: " + mode + ", _: 2}}");
  const auto expansion = expand_below(benchmark, {"1"});
  if (replaces)
    EXPECT_THAT(texts_of(expansion), ElementsAre("2"));
  else
    EXPECT_EQ(expansion.conflicting_parameter, "k");
}

INSTANTIATE_TEST_SUITE_P(Modes, RedefinitionTest,
                         testing::Values(std::pair{"never", false}, std::pair{"use", true},
                                         std::pair{"step", true}, std::pair{"cycle", false},
                                         std::pair{"always", true}));

TEST(Redefinition, IsNotHelpedByTheModeOfTheParent) {
  const auto benchmark = below("{k: {update_mode: always, _: 1}}", "{k: 2}");
  EXPECT_THAT(texts_of(expand_below(benchmark, {"1"})), IsEmpty());
}

TEST(Redefinition, OfATextByAListIsAConflict) {
  const auto benchmark = below("{k: '1,2'}", "{k: [1, 2]}");
  EXPECT_EQ(expand_below(benchmark, {"1"}).conflicts, 1U);
}

TEST(DefinitionOf, TakesTheSetThatTheValuesName) {
  const auto benchmark = benchmark_of(
      "parameterset: [{name: p1, parameter: {a: 1}}, {name: p2, parameter: {a: 2}}]\n"
      "step: {name: s, use: p$n}\n");
  const Values values{{"n", "2"}};
  EXPECT_EQ(definition_of(benchmark, benchmark.steps[0], "a", lookup_in(values))->text, "2");
  EXPECT_EQ(definition_of(benchmark, benchmark.steps[0], "a")->text, "1");
}

}  // namespace
}  // namespace bench::space
