#include "harness/rate_schedule.hpp"

#include "gpt/options.hpp"
#include "vision/options.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

using Shape = RateSchedule::Shape;

struct RateCase {
  std::string name;
  RateSchedule schedule;
  std::vector<std::pair<double, double>> rates;  ///< Progress, and the rate at it.
};
void PrintTo(const RateCase& one, std::ostream* out) {
  *out << one.name;
}
class RateScheduleTest : public testing::TestWithParam<RateCase> {};

TEST_P(RateScheduleTest, GivesTheRateOfItsFormula) {
  for (const auto& [progress, rate] : GetParam().rates)
    EXPECT_DOUBLE_EQ(GetParam().schedule.rate(progress), rate) << progress;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, RateScheduleTest,
    testing::Values(
        RateCase{"Constant", {.highest = 0.1}, {{0, 0.1}, {1, 0.1}, {1e9, 0.1}}},
        RateCase{"WarmUp", {.highest = 0.8, .warmup = 5}, {{0, 0}, {2.5, 0.4}, {5, 0.8}, {9, 0.8}}},
        RateCase{
            "Cosine",
            {.highest = 1e-4, .warmup = 100, .shape = Shape::cosine, .lowest = 1e-5, .end = 1100},
            {{0, 0}, {50, 0.5e-4}, {100, 1e-4}, {600, 5.5e-5}, {1100, 1e-5}, {1e6, 1e-5}}},
        RateCase{"CosineWithoutWarmUp",
                 {.highest = 1, .shape = Shape::cosine, .end = 10},
                 {{0, 1}, {5, 0.5}, {10, 0}}},
        RateCase{"Linear",
                 {.highest = 1, .warmup = 2, .shape = Shape::polynomial, .lowest = 0.2, .end = 10},
                 {{1, 0.5}, {2, 1}, {4, 0.8}, {6, 0.6}, {10, 0.2}, {11, 0.2}}},
        RateCase{"Quadratic",
                 {.highest = 1, .shape = Shape::polynomial, .end = 10, .power = 2},
                 {{0, 1}, {5, 0.25}, {9, 0.01}, {10, 0}}},
        RateCase{"Exponential",
                 {.highest = 1, .shape = Shape::exponential, .lowest = 0.0625, .end = 8},
                 {{0, 1}, {2, 0.5}, {4, 0.25}, {6, 0.125}, {8, 0.0625}, {9, 0.0625}}},
        RateCase{"ExponentialFromAStart",
                 {.highest = 1,
                  .warmup = 1,
                  .shape = Shape::exponential,
                  .lowest = 0.25,
                  .start = 5,
                  .end = 7},
                 {{0.5, 0.5}, {1, 1}, {4, 1}, {5, 1}, {6, 0.5}, {7, 0.25}}},
        RateCase{"Step",
                 {.highest = 0.8, .warmup = 5, .shape = Shape::step, .milestones = {30, 60}},
                 {{0, 0}, {2.5, 0.4}, {29.9, 0.8}, {30, 0.08}, {59, 0.08}, {90, 0.008}}},
        RateCase{"StepByAnotherFactor",
                 {.highest = 1, .shape = Shape::step, .milestones = {32, 64}, .factors = {0.25}},
                 {{31, 1}, {32, 0.25}, {64, 0.0625}}},
        RateCase{
            "StepByAFactorForEachMilestone",
            {.highest = 1, .shape = Shape::step, .milestones = {32, 64}, .factors = {0.25, 0.5}},
            {{31, 1}, {32, 0.25}, {64, 0.125}, {99, 0.125}}},
        RateCase{"WarmUpFromARate",
                 {.highest = 0.9, .warmup = 4, .first = 0.1},
                 {{0, 0.1}, {1, 0.1 + 0.8 * 0.25}, {4, 0.9}, {5, 0.9}}},
        RateCase{"WarmUpFromAHigherRate",
                 {.highest = 0.25, .warmup = 4, .first = 1},
                 {{0, 1}, {2, 0.625}, {4, 0.25}}},
        RateCase{"CosineAfterAWarmUpFromARate",
                 {.highest = 1, .warmup = 10, .first = 0.5, .shape = Shape::cosine, .end = 20},
                 {{0, 0.5}, {5, 0.75}, {10, 1}, {15, 0.5}, {20, 0}}}),
    [](const auto& instance) { return instance.param.name; });

TEST(RateSchedule, KnowsWhetherItIsConstant) {
  EXPECT_TRUE(RateSchedule{}.is_constant());
  EXPECT_TRUE((RateSchedule{.shape = Shape::step}.is_constant()));
  EXPECT_FALSE((RateSchedule{.warmup = 1}.is_constant()));
  EXPECT_FALSE((RateSchedule{.shape = Shape::step, .milestones = {30}}.is_constant()));
  EXPECT_FALSE((RateSchedule{.shape = Shape::cosine, .end = 1}.is_constant()));
}

/// Progress from 0 to beyond `last`, at values that rounding does not favour.
std::vector<double> uneven_steps(double last) {
  std::vector<double> all;
  for (int i = 0; i <= 1000; ++i)
    all.push_back(last * 1.1 * i / 1000);
  return all;
}

// Runs that were recorded, and checkpoints that continue them, hold losses to the last digit. So
// the rates of gpt and vision keep their bits, whose last one depends on the order of operations.

TEST(RateSchedule, OfGptKeepsEveryBit) {
  gpt::Options options;
  options.highest_learning_rate = 3e-4;
  options.lowest_learning_rate = 7e-6;
  options.lr_warmup_samples = 12'345;
  options.lr_decay_samples = 987'654;
  const auto expected = [](double samples) {
    if (samples <= 12'345)
      return 3e-4 * samples / 12'345;
    if (samples >= 987'654)
      return 7e-6;
    const double passed = (samples - 12'345) / (987'654.0 - 12'345);
    return 7e-6 + (3e-4 - 7e-6) * (std::cos(std::numbers::pi * passed) + 1) / 2;
  };
  for (const double progress : uneven_steps(987'654)) {
    const double samples = std::round(progress);
    EXPECT_EQ(options.schedule().rate(samples), expected(samples)) << samples;
  }
}

TEST(RateSchedule, OfVisionKeepsEveryBit) {
  vision::Options options;
  options.given_learning_rate = 0.7;
  options.lr_warmup_epochs = 5.3;
  options.lr_decay_epochs = {3, 30, 60};
  const auto expected = [&](double epochs) {
    const auto passed =
        std::ranges::count_if(options.lr_decay_epochs, [&](double from) { return epochs >= from; });
    const double rise = epochs < 5.3 ? epochs / 5.3 : 1;
    return 0.7 * rise * std::pow(0.1, static_cast<double>(passed));
  };
  for (const double epochs : uneven_steps(60))
    EXPECT_EQ(options.schedule().rate(epochs), expected(epochs)) << epochs;
}

}  // namespace
}  // namespace bench::steps
