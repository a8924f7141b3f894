#include "run/repeater.hpp"

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/model/benchmark.hpp>

namespace bench::run {
namespace {

struct RepetitionCase {
  const char* name;
  std::vector<double> values;
  int failed;
  int affordable;
  bool by_estimate;
  int more;
  bool known;
  const char* reason;
};
void PrintTo(const RepetitionCase& one, std::ostream* out) {
  *out << one.name;
}
class RepetitionTest : public testing::TestWithParam<RepetitionCase> {};

/// Until the mean is known to one percent, at most ten times.
TEST_P(RepetitionTest, DecidesByTheValuesAndTheBounds) {
  const RepetitionCase& one = GetParam();
  model::Repetition repetition;
  repetition.value = "rate";
  repetition.limit = 0.01;
  repetition.relative = true;
  repetition.most = 10;
  const RepetitionDecision decision =
      decide(repetition,
             {.iterations = static_cast<int>(one.values.size()) + one.failed,
              .next = static_cast<int>(one.values.size()) + one.failed,
              .values = one.values,
              .failed = one.failed,
              .affordable = one.affordable},
             one.by_estimate);
  EXPECT_EQ(decision.more, one.more);
  EXPECT_EQ(decision.known, one.known);
  EXPECT_EQ(decision.reason, one.reason);
}

INSTANTIATE_TEST_SUITE_P(
    Scheduler, RepetitionTest,
    testing::Values(
        RepetitionCase{"Known", {1000, 1002, 1004}, 0, 99, false, 0, true, ""},
        RepetitionCase{"EqualValues", {0, 0, 0}, 0, 99, false, 0, true, ""},
        RepetitionCase{"OneMore", {1000, 1020, 1040}, 0, 99, false, 1, false, ""},
        RepetitionCase{"AtMostAsManyMore", {1000, 1020, 1040}, 0, 99, true, 3, false, ""},
        RepetitionCase{
            "AsManyAsExpected", {1000, 1010, 1020, 1000, 1020}, 0, 99, true, 3, false, ""},
        RepetitionCase{"NoValue", {}, 3, 99, false, 0, false, "no iteration has a value of rate"},
        RepetitionCase{"Most",
                       {1, 2, 1, 2, 1, 2, 1, 2, 1, 2},
                       0,
                       99,
                       false,
                       0,
                       false,
                       "25 % after 10 iterations, the maximum"},
        RepetitionCase{"UpToTheMost", {1, 2, 1, 2, 1, 2, 1, 2}, 0, 99, true, 2, false, ""},
        RepetitionCase{"NotFinite",
                       {1, std::nan(""), 2},
                       0,
                       99,
                       true,
                       0,
                       false,
                       "rate is not finite in all iterations"},
        RepetitionCase{"NoBudget",
                       {1000, 1020, 1040},
                       0,
                       0,
                       false,
                       0,
                       false,
                       "4.9 % after 3 iterations, and the budget is used up"},
        RepetitionCase{"WithinTheBudget", {1000, 1020, 1040}, 0, 2, true, 2, false, ""},
        RepetitionCase{"AFlake", {1000, 1020, 1040}, 1, 99, false, 1, false, ""},
        RepetitionCase{"HalfFailed",
                       {1000, 1020, 1040},
                       3,
                       99,
                       false,
                       0,
                       false,
                       "4.9 % after 6 iterations, of which 3 failed"}),
    [](const auto& one) { return one.param.name; });

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
