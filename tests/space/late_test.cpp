#include "space/fixture.hpp"
#include "support/error_of.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/expand.hpp>

namespace bench::space {
namespace {

using testing::ElementsAre;

class RenewTest : public testing::Test {
 protected:
  /// The values that a workpackage of these parameters has in cycle 1.
  std::string in_cycle_1(const std::string& parameters, std::size_t index = 0) {
    const auto benchmark = with_parameters(parameters);
    auto expansion = expansion_of(benchmark);
    Combination& combination = expansion.combinations.at(index);
    resolve_late({&combination}, {lookup_in(first_)}, evaluator_);
    renew(combination, lookup_in(first_), lookup_in(now_), evaluator_);
    return text_of(combination);
  }

  Values first_{{"jube_wp_id", "7"}, {"jube_wp_cycle", "0"}};
  Values now_{{"jube_wp_id", "7"}, {"jube_wp_cycle", "1"}};
  evaluate::Evaluator evaluator_;
};

TEST_F(RenewTest, FollowsTheUpdateMode) {
  EXPECT_EQ(in_cycle_1("    - {name: a, _: c$jube_wp_cycle}\n"
                       "    - {name: b, update_mode: use, _: c$jube_wp_cycle}\n"
                       "    - {name: c, update_mode: step, _: c$jube_wp_cycle}\n"
                       "    - {name: d, update_mode: cycle, _: c$jube_wp_cycle}\n"
                       "    - {name: e, update_mode: always, _: c$jube_wp_cycle}\n"),
            "c0/c0/c0/c1/c1");
}

TEST_F(RenewTest, EvaluatesScriptsInOrder) {
  EXPECT_EQ(in_cycle_1("    - {name: a, update_mode: cycle, mode: python, _: $b * 10}\n"
                       "    - {name: b, update_mode: cycle, mode: python, _: $jube_wp_cycle + 1}\n"
                       "    - {name: c, mode: python, _: $b * 10}\n"),
            "20/2/10");
}

TEST_F(RenewTest, KeepsTheChoiceFromATemplate) {
  EXPECT_EQ(in_cycle_1("    - {name: a, update_mode: cycle, _: '1,2'}\n", 1), "2");
  EXPECT_EQ(in_cycle_1("    - {name: a, update_mode: cycle, _: 'x$jube_wp_cycle,y$jube_wp_cycle'}"
                       "\n",
                       1),
            "y1");
  EXPECT_EQ(in_cycle_1("    {a: {update_mode: cycle, _: [x, y$jube_wp_cycle]}}\n", 1), "y1");
}

TEST_F(RenewTest, KeepsTheChoiceFromAScript) {
  EXPECT_EQ(in_cycle_1("    - {name: a, update_mode: cycle, mode: python, _: \"'1,2'\"}\n", 1),
            "2");
}

TEST_F(RenewTest, ChecksTypes) {
  EXPECT_EQ(support::fault_of([&] {
              in_cycle_1(
                  "    - {name: a, type: int, mode: python, update_mode: cycle, _: \"'$"
                  "jube_wp_cycle'.replace('1', 'x')\"}\n");
            }),
            "in.yaml:4:65: invalid-value");
}

class LateTest : public testing::Test {
 protected:
  /// Expands step `s` of the parameters and gives the late ones their values for workpackage 7.
  std::vector<std::string> resolve(const std::string& parameters) {
    benchmark_ = with_parameters(parameters);
    expansion_ = expansion_of(benchmark_);
    before_ = texts_of(expansion_);
    std::vector<Combination*> combinations;
    for (Combination& combination : expansion_.combinations)
      combinations.push_back(&combination);
    resolve_late(combinations, {combinations.size(), lookup_in(variables_)}, evaluator_);
    return texts_of(expansion_);
  }

  Values variables_{{"jube_wp_id", "7"}, {"jube_wp_padid", "000007"}};
  evaluate::Evaluator evaluator_;
  model::Benchmark benchmark_;
  Expansion expansion_;
  std::vector<std::string> before_;
};

TEST_F(LateTest, WaitsForTheWorkpackage) {
  EXPECT_THAT(resolve("    {a: run$jube_wp_padid, b: 1}\n"), ElementsAre("run000007/1"));
  EXPECT_THAT(before_, ElementsAre("<run$jube_wp_padid>/1"));
}

TEST_F(LateTest, WhatNeedsALateParameterIsLate) {
  EXPECT_THAT(resolve("    - {name: a, mode: python, _: $b + 1}\n"
                      "    - {name: b, mode: python, _: $jube_wp_id * 2}\n"),
              ElementsAre("15/14"));
  EXPECT_THAT(before_, ElementsAre("<$b + 1>/<$jube_wp_id * 2>"));
}

TEST_F(LateTest, TemplatesAreMultipliedBefore) {
  EXPECT_THAT(resolve("    {a: $jube_wp_id$b, b: [x, y]}\n"), ElementsAre("7x/x", "7y/y"));
}

TEST_F(LateTest, NothingSplitsAnyMore) {
  EXPECT_THAT(resolve("    - {name: a, mode: shell, _: 'echo $jube_wp_id,x'}\n"),
              ElementsAre("7,x\n"));
}

TEST_F(LateTest, UnknownVariablesStayForTheShell) {
  EXPECT_THAT(resolve("    {a: $jube_wp_parent_x_id}\n"), ElementsAre("$jube_wp_parent_x_id"));
}

TEST_F(LateTest, HaveNoValueBefore) {
  const auto benchmark = with_parameters("    {a: $jube_wp_id, b: 1}\n");
  const auto expansion = expansion_of(benchmark);
  EXPECT_EQ(expansion.combinations[0].find("a"), nullptr);
  EXPECT_EQ(*expansion.combinations[0].find("b"), "1");
  EXPECT_EQ(expansion.combinations[0].find("c"), nullptr);
}

TEST_F(LateTest, ParametersAreChecked) {
  EXPECT_EQ(support::fault_of([&] { resolve("    - {name: a, type: int, _: x$jube_wp_id}\n"); }),
            "in.yaml:4:31: invalid-value");
}

TEST_F(LateTest, ScriptsWithAnUnknownVariableAreEvaluatedWithItsName) {
  EXPECT_THAT(resolve("    - {name: a, mode: python, _: \"'$jube_wp_no'\"}\n"),
              ElementsAre("$jube_wp_no"));
}

}  // namespace
}  // namespace bench::space
