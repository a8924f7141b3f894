#include "model/fixture.hpp"

#include <string>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/model/benchmark.hpp>

namespace bench::model {
namespace {

using testing::ElementsAre;

std::string deciding(const std::string& settings) {
  return "parameterset: {name: p, parameter: {n: [1, 2], word: [a, b]}}\n"
         "step: {name: s, use: p, " +
         settings +
         "}\n"
         "patternset: {name: f, pattern: {name: rate, type: float, _: rate=$jube_pat_fp}}\n"
         "analyser: {name: a, use: f, analyse: {step: s, file: stdout}}\n";
}

Step deciding_step(const std::string& settings) {
  return benchmark_of(deciding(settings)).steps.at(0);
}

TEST(Iterations, AreANumber) {
  EXPECT_EQ(deciding_step("iterations: 4").iterations, 4);
  EXPECT_EQ(deciding_step("iterations: 4").most_iterations(), 4);
  EXPECT_EQ(deciding_step("do: x").iterations, 1);
}

TEST(Iterations, AreRepeatedUntilAValueIsKnown) {
  const Step step = deciding_step(
      "iterations: {min: 4, max: 9, until: 'ci_halfwidth( rate ) < 1.5 %', budget: 2nh}");
  EXPECT_EQ(step.iterations, 4);
  EXPECT_EQ(step.most_iterations(), 9);
  EXPECT_EQ(step.repetition->value, "rate");
  EXPECT_DOUBLE_EQ(step.repetition->limit, 0.015);
  EXPECT_TRUE(step.repetition->relative);
  EXPECT_EQ(step.repetition->budget_node_hours, 2);
}

TEST(Iterations, HaveALimitInTheUnitOfTheValue) {
  const Repetition repetition =
      *deciding_step("iterations: {until: ci_halfwidth(rate) < 20}").repetition;
  EXPECT_EQ(repetition.limit, 20);
  EXPECT_FALSE(repetition.relative);
  EXPECT_EQ(repetition.most, 20);
}

TEST(Iterations, AreRepeatedForAStatistic) {
  EXPECT_EQ(deciding_step("iterations: {until: ci_halfwidth(rate_median) < 1%}").repetition->value,
            "rate_median");
}

TEST(Iterations, EndForWhatCannotWin) {
  const auto race = deciding_step(
                        "iterations: {until: ci_halfwidth(rate) < 1%, stop: dominated, for: "
                        "min(rate), per: word}")
                        .repetition->race;
  EXPECT_FALSE(race->maximise);
  EXPECT_THAT(race->per, ElementsAre("word"));
}

TEST(Iterations, HaveABudgetOfEnergy) {
  const auto budget = [](const std::string& text) {
    return deciding_step(
               "batch: true, energy: true, iterations: {until: ci_halfwidth(energy_wh) < 1%, "
               "budget: " +
               text + "}")
        .repetition->budget_wh;
  };
  EXPECT_EQ(budget("500Wh"), 500);
  EXPECT_EQ(budget("1.5 kWh"), 1500);
}

TEST(Iterations, TakeEveryFigureOfTheMeterThatAColumnTakes) {
  for (const char* name : {"energy_wh", "machine_load", "duration_s", "energy_gpu0_wh",
                           "power_region_train_w", "energy_wh_median", "machine_cpu_clock_mhz"})
    EXPECT_EQ(deciding_step(fmt::format("batch: true, energy: true, iterations: {{until: "
                                        "ci_halfwidth({}) < 1%}}",
                                        name))
                  .repetition->value,
              name);
}

TEST(Prune, ReadsItsParameters) {
  EXPECT_THAT(deciding_step("prune: {when: oom, larger: [n]}").prune->larger, ElementsAre("n"));
  EXPECT_FALSE(deciding_step("prune: {larger: n}").prune->per);
  EXPECT_THAT(*deciding_step("prune: {larger: n, per: ''}").prune->per, testing::IsEmpty());
}

TEST(Search, ReadsItsRange) {
  const Search search =
      *deciding_step("search: {parameter: n, for: min(rate), between: [8, 100], multiple_of: 8}")
           .search;
  EXPECT_EQ(search.parameter, "n");
  EXPECT_EQ(search.value, "rate");
  EXPECT_FALSE(search.maximise);
  EXPECT_EQ(search.from, 8);
  EXPECT_EQ(search.to, 96);
}

struct Mistake {
  const char* name;
  const char* settings;
  const char* fault;
};
class DecisionMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(DecisionMistakes, AreErrors) {
  EXPECT_EQ(fault_in(deciding(GetParam().settings)), GetParam().fault);
}

INSTANTIATE_TEST_SUITE_P(
    Model, DecisionMistakes,
    testing::Values(
        Mistake{"NoNumber", "iterations: many", "in.yaml:2:37: invalid-value"},
        Mistake{"NoUntil", "iterations: {min: 2}", "in.yaml:2:37: missing-key"},
        Mistake{"OtherFunction", "iterations: {until: std(rate) < 1}",
                "in.yaml:2:45: invalid-expression"},
        Mistake{"NoLimit", "iterations: {until: ci_halfwidth(rate)}",
                "in.yaml:2:45: invalid-expression"},
        Mistake{"NegativeLimit", "iterations: {until: ci_halfwidth(rate) < -1%}",
                "in.yaml:2:45: invalid-value"},
        Mistake{"UnknownPattern", "iterations: {until: ci_halfwidth(rat) < 1%}",
                "in.yaml:2:45: unknown-name"},
        Mistake{"NoFigureOfTheMeter",
                "batch: true, energy: true, iterations: {until: ci_halfwidth(energy_whh) < 1%}",
                "in.yaml:2:72: unknown-name"},
        Mistake{"NameLikeThoseOfTheMeter",
                "batch: true, energy: true, iterations: {until: ci_halfwidth(power_foo) < 1%}",
                "in.yaml:2:72: unknown-name"},
        Mistake{"TextOfTheMeter",
                "batch: true, energy: true, iterations: {until: ci_halfwidth(energy_source) < 1%}",
                "in.yaml:2:72: invalid-value"},
        Mistake{"FigureOfNoMeter", "iterations: {until: ci_halfwidth(machine_load) < 1%}",
                "in.yaml:2:45: unknown-name"},
        Mistake{"SmallMax", "iterations: {min: 5, max: 4, until: ci_halfwidth(rate) < 1%}",
                "in.yaml:2:51: conflict"},
        Mistake{"Budget", "iterations: {until: ci_halfwidth(rate) < 1%, budget: 3 euros}",
                "in.yaml:2:78: invalid-value"},
        Mistake{"EnergyWithoutMeter", "iterations: {until: ci_halfwidth(rate) < 1%, budget: 3Wh}",
                "in.yaml:2:78: missing-key"},
        Mistake{"Order", "order: shuffled", "in.yaml:2:32: invalid-value"},
        Mistake{"PruneWithoutLarger", "prune: {when: oom}", "in.yaml:2:32: missing-key"},
        Mistake{"PruneWhen", "prune: {when: slow, larger: n}", "in.yaml:2:39: invalid-value"},
        Mistake{"StopWithoutGoal", "iterations: {until: ci_halfwidth(rate) < 1%, stop: dominated}",
                "in.yaml:2:76: missing-key"},
        Mistake{"StopPerUnknown",
                "iterations: {until: ci_halfwidth(rate) < 1%, stop: dominated, for: max(rate), "
                "per: m}",
                "in.yaml:2:108: unknown-name"},
        Mistake{"GoalWithoutStop", "iterations: {until: ci_halfwidth(rate) < 1%, for: max(rate)}",
                "in.yaml:2:75: no-effect"},
        Mistake{"PerWithoutStop", "iterations: {until: ci_halfwidth(rate) < 1%, per: n}",
                "in.yaml:2:75: no-effect"},
        Mistake{"PruneTwice", "prune: [{larger: n}, {larger: n}]", "in.yaml:2:46: conflict"},
        Mistake{"SearchTwice", "search: [{parameter: n}, {parameter: n}]",
                "in.yaml:2:50: conflict"},
        Mistake{"LargerAndPer", "prune: {larger: n, per: n}", "in.yaml:2:49: conflict"},
        Mistake{"PruneOfShared", "prune: {larger: n}, shared: all, do: {_: x, shared: true}",
                "in.yaml:2:32: conflict"},
        Mistake{"LargerTexts", "prune: {larger: word}", "in.yaml:1:54: invalid-value"},
        Mistake{"SearchWithoutGoal", "search: {parameter: n, between: [1, 2]}",
                "in.yaml:2:33: missing-key"},
        Mistake{"SearchOfOneEnd", "search: {parameter: n, for: max(rate), between: 4}",
                "in.yaml:2:73: invalid-value"},
        Mistake{"SearchBackwards", "search: {parameter: n, for: max(rate), between: [4, 1]}",
                "in.yaml:2:73: invalid-value"},
        Mistake{"SearchOfNoMultiple",
                "search: {parameter: n, for: max(rate), between: [1, 9], multiple_of: 2}",
                "in.yaml:2:73: invalid-value"},
        Mistake{"SearchOfUnknown", "search: {parameter: m, for: max(rate), between: [1, 9]}",
                "in.yaml:2:45: unknown-name"},
        Mistake{"SearchForUnknown", "search: {parameter: n, for: max(rat), between: [1, 9]}",
                "in.yaml:2:53: unknown-name"},
        Mistake{"UnknownLarger", "prune: {larger: m}", "in.yaml:2:41: unknown-name"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace bench::model
