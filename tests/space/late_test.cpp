#include "space/fixture.hpp"
#include "support/error_of.hpp"

#include <cstddef>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/evaluate/evaluator.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/expand.hpp>

namespace bench::space {
namespace {

class RenewTest : public testing::Test {
 protected:
  /// The values that a workpackage of these parameters has in cycle 1.
  std::string in_cycle_1(const std::string& parameters, std::size_t index = 0) {
    const auto benchmark = with_parameters(parameters);
    auto expansion =
        expand(benchmark, benchmark.steps[0], {Origin{}}, lookup_in(none_), evaluator_);
    Combination& combination = expansion.combinations.at(index);
    resolve_late({&combination}, {lookup_in(first_)}, evaluator_);
    renew(combination, lookup_in(first_), lookup_in(now_), evaluator_);
    return text_of(combination);
  }

  Values none_;
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

TEST(Late, ParametersAreChecked) {
  const auto benchmark = with_parameters("    - {name: a, type: int, _: x$jube_wp_id}\n");
  evaluate::Evaluator evaluator;
  const Values none;
  const Values variables{{"jube_wp_id", "7"}};
  auto expansion = expand(benchmark, benchmark.steps[0], {Origin{}}, lookup_in(none), evaluator);
  EXPECT_EQ(support::fault_of([&] {
              resolve_late({&expansion.combinations[0]}, {lookup_in(variables)}, evaluator);
            }),
            "in.yaml:4:31: invalid-value");
}

TEST(Late, ScriptsWithAnUnknownVariableAreEvaluatedWithItsName) {
  const auto benchmark = with_parameters("    - {name: a, mode: python, _: \"'$jube_wp_no'\"}\n");
  evaluate::Evaluator evaluator;
  const Values none;
  auto expansion = expand(benchmark, benchmark.steps[0], {Origin{}}, lookup_in(none), evaluator);
  resolve_late({&expansion.combinations[0]}, {lookup_in(none)}, evaluator);
  EXPECT_EQ(text_of(expansion.combinations[0]), "$jube_wp_no");
}

}  // namespace
}  // namespace bench::space
