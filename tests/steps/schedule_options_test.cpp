#include "harness/arguments.hpp"
#include "harness/program.hpp"
#include "harness/rate_schedule.hpp"

#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>

namespace bench::steps {
namespace {

/// The schedule that these arguments describe.
/// @throws UsageError as a program would tell it
RateSchedule schedule_of(const std::string& arguments, RateSchedule schedule = {}) {
  CLI::App app("", "program");
  add_schedule_options(app, schedule, "epochs");
  std::vector<std::string> words{"program"};
  std::istringstream stream(arguments);
  for (std::string word; stream >> word;)
    words.push_back(word);
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  parse_command_line(app, static_cast<int>(argv.size()), argv.data());
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
void PrintTo(const WrongSchedule& one, std::ostream* out) {
  *out << one.name;
}
class WrongScheduleTest : public testing::TestWithParam<WrongSchedule> {};

TEST_P(WrongScheduleTest, IsRefusedWithAHint) {
  try {
    schedule_of(GetParam().arguments);
    FAIL() << "was accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(GetParam().message));
    EXPECT_THAT(error.hint(), testing::HasSubstr(GetParam().hint));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, WrongScheduleTest,
    testing::Values(
        WrongSchedule{"UnknownShape", "--lr-schedule cosin", "cosin", "program --help"},
        WrongSchedule{"NegativeRate", "--learning-rate -1", "-1 is not a finite number from 0 on",
                      "program --help"},
        WrongSchedule{"MilestonesOfACosine", "--lr-schedule cosine --lr-decay 9 --lr-milestones 3",
                      "--lr-milestones has no effect on a cosine learning rate",
                      "add --lr-schedule step, or remove --lr-milestones"},
        WrongSchedule{"EndOfAConstant", "--lr-end 0.1",
                      "--lr-end has no effect on a constant learning rate",
                      "add --lr-schedule cosine"},
        WrongSchedule{"PowerOfACosine", "--lr-schedule cosine --lr-decay 9 --lr-power 2",
                      "--lr-power has no effect on a cosine learning rate",
                      "add --lr-schedule polynomial"},
        WrongSchedule{"StepWithoutMilestones", "--lr-schedule step",
                      "--lr-schedule step needs --lr-milestones", "--lr-milestones 30,60,80"},
        WrongSchedule{"FactorsForOtherMilestones",
                      "--lr-schedule step --lr-milestones 30,60 --lr-factor 0.5,0.4,0.3",
                      "--lr-factor has 3 factors, --lr-milestones 2 milestones",
                      "one factor for each milestone, or one for all"},
        WrongSchedule{"MilestonesThatFall",
                      "--lr-schedule step --lr-milestones 64,32 --lr-factor 0.5,0.1",
                      "the milestones 64,32 do not rise", "--lr-milestones in their order"},
        WrongSchedule{"FirstRateWithoutWarmUp", "--lr-first 0.1",
                      "--lr-first has no effect without a warm-up", "add --lr-warmup"},
        WrongSchedule{"CosineWithoutEnd", "--lr-schedule cosine", "falls before it has risen",
                      "--lr-decay must be above --lr-warmup"},
        WrongSchedule{"StartBehindTheEnd", "--lr-schedule cosine --lr-decay 9 --lr-decay-start 9",
                      "is lowest before it falls", "--lr-decay must be above --lr-decay-start"},
        WrongSchedule{"ExponentialTowardsZero", "--lr-schedule exponential --lr-decay 9",
                      "an exponential learning rate never is 0", "--lr-end above 0"},
        WrongSchedule{"LowestAboveHighest",
                      "--learning-rate 0.1 --lr-schedule cosine --lr-decay 9 --lr-end 0.2",
                      "the lowest learning rate, 0.2, is above the highest, 0.1", "--lr-end"}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace bench::steps
