#include "run/repeater.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/model/benchmark.hpp>

namespace bench::run {
namespace {

/// Until the mean is known to one percent, at most ten times.
TEST(Repetition, DecidesByTheValuesAndTheBounds) {
  model::Repetition repetition;
  repetition.value = "rate";
  repetition.limit = 0.01;
  repetition.relative = true;
  repetition.most = 10;
  const std::vector<double> three{1000, 1020, 1040};
  const struct {
    const char* name;
    std::vector<double> values;
    int failed;
    int affordable;
    bool by_estimate;
    RepetitionDecision expected;
  } cases[] = {{"known", {1000, 1002, 1004}, 0, 99, false, {0, true, ""}},
               {"equal values", {0, 0, 0}, 0, 99, false, {0, true, ""}},
               {"one more", three, 0, 99, false, {1, false, ""}},
               {"at most as many more", three, 0, 99, true, {3, false, ""}},
               {"as many as expected", {1000, 1010, 1020, 1000, 1020}, 0, 99, true, {3, false, ""}},
               {"no value", {}, 3, 99, false, {0, false, "no iteration has a value of rate"}},
               {"most",
                {1, 2, 1, 2, 1, 2, 1, 2, 1, 2},
                0,
                99,
                false,
                {0, false, "25 % after 10 iterations, the maximum"}},
               {"up to the most", {1, 2, 1, 2, 1, 2, 1, 2}, 0, 99, true, {2, false, ""}},
               {"not finite",
                {1, std::nan(""), 2},
                0,
                99,
                true,
                {0, false, "rate is not finite in all iterations"}},
               {"no budget",
                three,
                0,
                0,
                false,
                {0, false, "4.9 % after 3 iterations, and the budget is used up"}},
               {"within the budget", three, 0, 2, true, {2, false, ""}},
               {"a flake", three, 1, 99, false, {1, false, ""}},
               {"half failed",
                three,
                3,
                99,
                false,
                {0, false, "4.9 % after 6 iterations, of which 3 failed"}}};
  for (const auto& [name, values, failed, affordable, by_estimate, expected] : cases) {
    const int iterations = static_cast<int>(values.size()) + failed;
    const RepetitionDecision decision = decide(repetition,
                                               {.iterations = iterations,
                                                .next = iterations,
                                                .values = values,
                                                .failed = failed,
                                                .affordable = affordable},
                                               by_estimate);
    EXPECT_EQ(decision.more, expected.more) << name;
    EXPECT_EQ(decision.known, expected.known) << name;
    EXPECT_EQ(decision.reason, expected.reason) << name;
  }
}

TEST(Repetition, EndsForWhatCannotWinUnlessItIsKnown) {
  model::Repetition repetition;
  repetition.most = 10;
  const std::vector<double> values{1000, 1020, 1040};
  const Repeated repeated{
      .iterations = 3, .values = values, .failed = 0, .affordable = 9, .dominated = true};
  repetition.limit = 49;
  EXPECT_EQ(decide(repetition, repeated, false).more, 0);
  EXPECT_EQ(decide(repetition, repeated, false).reason, "");
  EXPECT_FALSE(decide(repetition, repeated, false).known);
  repetition.limit = 50;
  EXPECT_TRUE(decide(repetition, repeated, false).known);
}

TEST(Repetition, HasALimitInTheUnitOfTheValue) {
  model::Repetition repetition;
  repetition.most = 10;
  const std::vector<double> values{1000, 1020, 1040};
  const Repeated repeated{.iterations = 3, .values = values, .failed = 0, .affordable = 9};
  repetition.limit = 49;
  EXPECT_FALSE(decide(repetition, repeated, false).known);
  repetition.limit = 50;
  EXPECT_TRUE(decide(repetition, repeated, false).known);
}

}  // namespace
}  // namespace bench::run
