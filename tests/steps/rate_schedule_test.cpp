#include "harness/rate_schedule.hpp"

#include "gpt/options.hpp"
#include "harness/arguments.hpp"
#include "harness/errors.hpp"
#include "steps/command_line.hpp"
#include "vision/options.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::steps {
namespace {

using Shape = RateSchedule::Shape;

struct RateCase {
  std::string name;
  RateSchedule schedule;
  std::vector<std::pair<double, double>> rates;  ///< Progress, and the rate at it.
};
TEST(RateSchedule, GivesTheRateOfItsFormula) {
  const RateCase cases[] = {
      {"Constant", {.highest = 0.1}, {{0, 0.1}, {1, 0.1}, {1e9, 0.1}}},
      {"WarmUp", {.highest = 0.8, .warmup = 5}, {{0, 0}, {2.5, 0.4}, {5, 0.8}, {9, 0.8}}},
      {"Cosine",
       {.highest = 1e-4, .warmup = 100, .shape = Shape::cosine, .lowest = 1e-5, .end = 1100},
       {{0, 0}, {50, 0.5e-4}, {100, 1e-4}, {600, 5.5e-5}, {1100, 1e-5}, {1e6, 1e-5}}},
      {"CosineWithoutWarmUp",
       {.highest = 1, .shape = Shape::cosine, .end = 10},
       {{0, 1}, {5, 0.5}, {10, 0}}},
      {"Linear",
       {.highest = 1, .warmup = 2, .shape = Shape::polynomial, .lowest = 0.2, .end = 10},
       {{1, 0.5}, {2, 1}, {4, 0.8}, {6, 0.6}, {10, 0.2}, {11, 0.2}}},
      {"Quadratic",
       {.highest = 1, .shape = Shape::polynomial, .end = 10, .power = 2},
       {{0, 1}, {5, 0.25}, {9, 0.01}, {10, 0}}},
      {"Exponential",
       {.highest = 1, .shape = Shape::exponential, .lowest = 0.0625, .end = 8},
       {{0, 1}, {2, 0.5}, {4, 0.25}, {6, 0.125}, {8, 0.0625}, {9, 0.0625}}},
      {"ExponentialFromAStart",
       {.highest = 1,
        .warmup = 1,
        .shape = Shape::exponential,
        .lowest = 0.25,
        .start = 5,
        .end = 7},
       {{0.5, 0.5}, {1, 1}, {4, 1}, {5, 1}, {6, 0.5}, {7, 0.25}}},
      {"Step",
       {.highest = 0.8, .warmup = 5, .shape = Shape::step, .milestones = {30, 60}},
       {{0, 0}, {2.5, 0.4}, {29.9, 0.8}, {30, 0.08}, {59, 0.08}, {90, 0.008}}},
      {"StepByAnotherFactor",
       {.highest = 1, .shape = Shape::step, .milestones = {32, 64}, .factors = {0.25}},
       {{31, 1}, {32, 0.25}, {64, 0.0625}}},
      {"StepByAFactorForEachMilestone",
       {.highest = 1, .shape = Shape::step, .milestones = {32, 64}, .factors = {0.25, 0.5}},
       {{31, 1}, {32, 0.25}, {64, 0.125}, {99, 0.125}}},
      {"WarmUpFromARate",
       {.highest = 0.9, .warmup = 4, .first = 0.1},
       {{0, 0.1}, {1, 0.1 + 0.8 * 0.25}, {4, 0.9}, {5, 0.9}}},
      {"WarmUpFromAHigherRate",
       {.highest = 0.25, .warmup = 4, .first = 1},
       {{0, 1}, {2, 0.625}, {4, 0.25}}},
      {"CosineAfterAWarmUpFromARate",
       {.highest = 1, .warmup = 10, .first = 0.5, .shape = Shape::cosine, .end = 20},
       {{0, 0.5}, {5, 0.75}, {10, 1}, {15, 0.5}, {20, 0}}}};
  for (const RateCase& c : cases) {
    SCOPED_TRACE(c.name);
    for (const auto& [progress, rate] : c.rates)
      EXPECT_DOUBLE_EQ(c.schedule.rate(progress), rate) << progress;
  }
}

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

/// The schedule that these arguments describe.
/// @throws UsageError as a program would tell it
RateSchedule schedule_of(const std::string& arguments, RateSchedule schedule = {}) {
  CLI::App app("", "program");
  add_schedule_options(app, schedule, "epochs");
  with_arguments(arguments, [&](int argc, char** argv) { parse_command_line(app, argc, argv); });
  check_schedule_options(app, schedule);
  return schedule;
}

TEST(ScheduleOptions, LeaveTheDefaultsOfTheProgram) {
  const RateSchedule schedule =
      schedule_of("", {.highest = 0.3, .shape = RateSchedule::Shape::cosine, .end = 7});
  EXPECT_EQ(schedule.highest, 0.3);
  EXPECT_EQ(schedule.shape, RateSchedule::Shape::cosine);
  EXPECT_EQ(schedule.end, 7);
}

TEST(ScheduleOptions, DescribeEveryShape) {
  const RateSchedule step = schedule_of(
      "--learning-rate 0.4 --lr-warmup 5 --lr-schedule step --lr-milestones 30,60 "
      "--lr-factor 0.5");
  EXPECT_DOUBLE_EQ(step.rate(2.5), 0.2);
  EXPECT_DOUBLE_EQ(step.rate(60), 0.1);
  const RateSchedule factors = schedule_of(
      "--learning-rate 0.4 --lr-warmup 4 --lr-first 0.2 --lr-schedule step --lr-milestones 30,60 "
      "--lr-factor 0.5,0.1");
  EXPECT_DOUBLE_EQ(factors.rate(2), 0.3);
  EXPECT_DOUBLE_EQ(factors.rate(30), 0.2);
  EXPECT_DOUBLE_EQ(factors.rate(60), 0.02);
  const RateSchedule polynomial = schedule_of(
      "--learning-rate 1 --lr-schedule polynomial --lr-decay 10 --lr-end 0.5 "
      "--lr-power 2");
  EXPECT_DOUBLE_EQ(polynomial.rate(5), 0.625);
  const RateSchedule cosine = schedule_of("--learning-rate 1 --lr-schedule cosine --lr-decay 10");
  EXPECT_DOUBLE_EQ(cosine.rate(5), 0.5);
  const RateSchedule exponential = schedule_of(
      "--learning-rate 1 --lr-schedule exponential --lr-decay-start 5 --lr-decay 7 --lr-end 0.25");
  EXPECT_DOUBLE_EQ(exponential.rate(5), 1);
  EXPECT_DOUBLE_EQ(exponential.rate(6), 0.5);
}

TEST(ScheduleOptions, OfAnotherShapeThanTheDefaultReplaceIt) {
  const RateSchedule schedule = schedule_of(
      "--lr-schedule constant", {.shape = RateSchedule::Shape::step, .milestones = {30}});
  EXPECT_TRUE(schedule.is_constant());
}

struct WrongSchedule {
  std::string name;
  std::string arguments;
  std::string message;
  std::string hint;
};
TEST(WrongScheduleTest, IsRefusedWithAHint) {
  const WrongSchedule cases[] = {
      {"UnknownShape", "--lr-schedule cosin", "cosin", "program --help"},
      {"NegativeRate", "--learning-rate -1", "-1 is not a finite number from 0 on",
       "program --help"},
      {"MilestonesOfACosine", "--lr-schedule cosine --lr-decay 9 --lr-milestones 3",
       "--lr-milestones has no effect on a cosine learning rate",
       "add --lr-schedule step, or remove --lr-milestones"},
      {"EndOfAConstant", "--lr-end 0.1", "--lr-end has no effect on a constant learning rate",
       "add --lr-schedule cosine"},
      {"PowerOfACosine", "--lr-schedule cosine --lr-decay 9 --lr-power 2",
       "--lr-power has no effect on a cosine learning rate", "add --lr-schedule polynomial"},
      {"StepWithoutMilestones", "--lr-schedule step", "--lr-schedule step needs --lr-milestones",
       "--lr-milestones 30,60,80"},
      {"FactorsForOtherMilestones",
       "--lr-schedule step --lr-milestones 30,60 --lr-factor 0.5,0.4,0.3",
       "--lr-factor has 3 factors, --lr-milestones 2 milestones",
       "one factor for each milestone, or one for all"},
      {"MilestonesThatFall", "--lr-schedule step --lr-milestones 64,32 --lr-factor 0.5,0.1",
       "the milestones 64,32 do not rise", "--lr-milestones in their order"},
      {"FirstRateWithoutWarmUp", "--lr-first 0.1", "--lr-first has no effect without a warm-up",
       "add --lr-warmup"},
      {"CosineWithoutEnd", "--lr-schedule cosine", "falls before it has risen",
       "--lr-decay must be above --lr-warmup"},
      {"StartBehindTheEnd", "--lr-schedule cosine --lr-decay 9 --lr-decay-start 9",
       "is lowest before it falls", "--lr-decay must be above --lr-decay-start"},
      {"ExponentialTowardsZero", "--lr-schedule exponential --lr-decay 9",
       "an exponential learning rate never is 0", "--lr-end above 0"},
      {"LowestAboveHighest", "--learning-rate 0.1 --lr-schedule cosine --lr-decay 9 --lr-end 0.2",
       "the lowest learning rate, 0.2, is above the highest, 0.1", "--lr-end"}};
  for (const WrongSchedule& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string refusal = refusal_of([&] { schedule_of(c.arguments); });
    const auto hint = refusal.find("\nhint: ");
    EXPECT_THAT(refusal.substr(0, hint), testing::HasSubstr(c.message));
    EXPECT_THAT(refusal.substr(hint), testing::HasSubstr(c.hint));
  }
}

}  // namespace
}  // namespace bench::steps
