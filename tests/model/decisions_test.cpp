#include "model/fixture.hpp"

#include <ostream>
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
  const char* message;
};
void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.name;
}
class DecisionMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(DecisionMistakes, AreErrors) {
  EXPECT_THAT(mistake_in(deciding(GetParam().settings)), testing::HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Model, DecisionMistakes,
    testing::Values(
        Mistake{"NoNumber", "iterations: many", "must be a whole number of at least 1, not 'many'"},
        Mistake{"NoUntil", "iterations: {min: 2}", "do not say until when"},
        Mistake{"OtherFunction", "iterations: {until: std(rate) < 1}",
                "invalid condition 'std(rate) < 1'"},
        Mistake{"NoLimit", "iterations: {until: ci_halfwidth(rate)}", "invalid condition"},
        Mistake{"NegativeLimit", "iterations: {until: ci_halfwidth(rate) < -1%}",
                "must be a positive number"},
        Mistake{"UnknownPattern", "iterations: {until: ci_halfwidth(rat) < 1%}",
                "needs 'rat', which no analyser of the step finds"},
        Mistake{"NoFigureOfTheMeter",
                "batch: true, energy: true, iterations: {until: ci_halfwidth(energy_whh) < 1%}",
                "needs 'energy_whh', which no analyser of the step finds"},
        Mistake{"NameLikeThoseOfTheMeter",
                "batch: true, energy: true, iterations: {until: ci_halfwidth(power_foo) < 1%}",
                "needs 'power_foo', which no analyser of the step finds"},
        Mistake{"TextOfTheMeter",
                "batch: true, energy: true, iterations: {until: ci_halfwidth(energy_source) < 1%}",
                "needs a number, but 'energy_source' is a text"},
        Mistake{"FigureOfNoMeter", "iterations: {until: ci_halfwidth(machine_load) < 1%}",
                "needs 'machine_load', which no analyser of the step finds"},
        Mistake{"SmallMax", "iterations: {min: 5, max: 4, until: ci_halfwidth(rate) < 1%}",
                "max is 4 and min is 5"},
        Mistake{"Budget", "iterations: {until: ci_halfwidth(rate) < 1%, budget: 3 euros}",
                "invalid budget '3 euros'"},
        Mistake{"EnergyWithoutMeter", "iterations: {until: ci_halfwidth(rate) < 1%, budget: 3Wh}",
                "has a budget of energy and does not measure any"},
        Mistake{"Order", "order: shuffled", "invalid value 'shuffled' for 'order'"},
        Mistake{"PruneWithoutLarger", "prune: {when: oom}", "add `larger: NAME`"},
        Mistake{"PruneWhen", "prune: {when: slow, larger: n}", "invalid value 'slow' for 'when'"},
        Mistake{"StopWithoutGoal", "iterations: {until: ci_halfwidth(rate) < 1%, stop: dominated}",
                "`stop` does not say what is best of rate"},
        Mistake{"StopPerUnknown",
                "iterations: {until: ci_halfwidth(rate) < 1%, stop: dominated, for: max(rate), "
                "per: m}",
                "`per` of step 's' names 'm'"},
        Mistake{"GoalWithoutStop", "iterations: {until: ci_halfwidth(rate) < 1%, for: max(rate)}",
                "`for` of iterations has no effect"},
        Mistake{"PerWithoutStop", "iterations: {until: ci_halfwidth(rate) < 1%, per: n}",
                "`per` of iterations has no effect"},
        Mistake{"PruneTwice", "prune: [{larger: n}, {larger: n}]", "step 's' has several `prune`"},
        Mistake{"SearchTwice", "search: [{parameter: n}, {parameter: n}]",
                "step 's' has several `search`"},
        Mistake{"LargerAndPer", "prune: {larger: n, per: n}",
                "prune has 'n' both in `larger` and in `per`"},
        Mistake{"PruneOfShared", "prune: {larger: n}, shared: all, do: {_: x, shared: true}",
                "step 's' has `prune` and a shared command"},
        Mistake{"LargerTexts", "prune: {larger: word}", "value 'a' of parameter 'word' is not a"},
        Mistake{"SearchWithoutGoal", "search: {parameter: n, between: [1, 2]}",
                "search needs a parameter and what is best"},
        Mistake{"SearchOfOneEnd", "search: {parameter: n, for: max(rate), between: 4}",
                "invalid range '4' in between"},
        Mistake{"SearchBackwards", "search: {parameter: n, for: max(rate), between: [4, 1]}",
                "invalid range '4,1' in between"},
        Mistake{"SearchOfNoMultiple",
                "search: {parameter: n, for: max(rate), between: [1, 9], multiple_of: 2}",
                "the search begins at 1, which is not a multiple of 2"},
        Mistake{"SearchOfUnknown", "search: {parameter: m, for: max(rate), between: [1, 9]}",
                "`search` of step 's' names 'm'"},
        Mistake{"SearchForUnknown", "search: {parameter: n, for: max(rat), between: [1, 9]}",
                "needs 'rat', which no analyser"},
        Mistake{"UnknownLarger", "prune: {larger: m}", "names 'm', which is not a parameter"}),
    [](const auto& one) { return one.param.name; });

TEST(DecisionMistakes, AreToldAtTheAttribute) {
  for (const char* settings :
       {"iterations: {\nuntil: ci_halfwidth(rat) < 1%}",
        "iterations: {until: ci_halfwidth(rate) < 1%,\nbudget: 3Wh}",
        "iterations: {until: ci_halfwidth(rate) < 1%, stop: dominated, for: max(rate),\nper: m}",
        "prune: {\nlarger: m}", "prune: {larger: n,\nper: m}",
        "search: {for: max(rate), between: [1, 9],\nparameter: m}",
        "search: {parameter: n, between: [1, 9],\nfor: max(rat)}"})
    EXPECT_THAT(mistake_in(deciding(settings)), testing::HasSubstr("in.yaml:3:")) << settings;
}

}  // namespace
}  // namespace bench::model
