#include "harness/loop.hpp"

#include "harness/errors.hpp"
#include "harness/optimizer.hpp"
#include "step_programs/program_runner.hpp"
#include "steps/paused.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

/// The steps that have a line.
std::vector<std::int64_t> with_lines(std::int64_t first, std::int64_t last, std::int64_t offset) {
  std::vector<std::int64_t> found;
  for (std::int64_t step = first; step <= last; ++step)
    if (has_line(step, offset))
      found.push_back(step);
  return found;
}

TEST(ProgressLog, HasLinesOfEachTenthStepAndFewerInLongRuns) {
  using Steps = std::vector<std::int64_t>;
  EXPECT_EQ(with_lines(1, 25, 0), (Steps{1, 10, 20}));
  EXPECT_EQ(with_lines(1, 25, 1), (Steps{1, 11, 21}));
  EXPECT_EQ(with_lines(985, 1205, 0), (Steps{990, 1000, 1100, 1200}));
  EXPECT_EQ(with_lines(9850, 12500, 1), (Steps{9901, 10001, 11001, 12001}));
}

TEST(StepLines, EndsWithTheLastStep) {
  testing::internal::CaptureStdout();
  StepLines log(12, 4);
  log.begin();
  for (int i = 0; i < 12; ++i)
    log.add({.result = {.loss = 0.5}});
  log.end(1);
  EXPECT_THAT(
      testing::internal::GetCapturedStdout(),
      testing::MatchesRegex("step 1/12 \\| loss 0.5 \\| [^\n]*\n"
                            "step 10/12 \\| loss 0.5 \\| [^\n]*\n"
                            "step 12/12 \\| loss 0.5 \\| [^\n]* samples/s \\| [^\n]* s/step\n"));
}

TEST(StepLines, CountNoPause) {
  StepLines log(1, 4);
  const PausedStep step = paused_step(log, {});
  EXPECT_LE(number_behind(step.printed, "samples/s | "), 1.001 * step.most_s) << step.printed;
}

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// Remembers what it is told.
class Remembering : public ProgressLog {
 public:
  void begin() override { told += "begin "; }
  void add(const LoggedStep& step) override {
    told += std::to_string(std::lround(step.result.loss)) + " ";
  }
  void paused(double seconds) override { paused_s.push_back(seconds); }
  void end(double) override { told += "end "; }

  std::string told;
  std::vector<double> paused_s;
};

/// One weight; the loss of step i, warm-up included, is i.
class LoopTest : public testing::Test {
 protected:
  LoopTest() {
    module_->register_parameter("weight", weight_);
    trainer_ = std::make_unique<Trainer>(
        TrainingContext{.ranks = alone_, .device = torch::kCPU}, *module_,
        TrainerOptions{.optimizer = make_adamw({}),
                       .learning_rate = [](std::int64_t) { return 0.0; }});
  }

  /// @param lost the step whose loss is not finite, from 1; 0: none
  void run(Loop& loop, int lost = 0) {
    while (loop.next()) {
      ++begun_;
      const double wanted = begun_ == lost ? std::nan("") : static_cast<double>(begun_);
      loop.io([] { return 0; });
      const torch::Tensor loss = loop.forward([&] { return (weight_ * 0 + wanted).sum(); });
      loop.backward([&] { trainer_->backward(loss); });
      loop.update();
    }
  }

  std::shared_ptr<torch::nn::Module> module_ = std::make_shared<torch::nn::Module>("model");
  torch::Tensor weight_ = torch::ones({1}, torch::requires_grad());
  Communicator alone_;
  std::unique_ptr<Trainer> trainer_;
  Timers timers_{make_clock(torch::kCPU)};
  Remembering log_;
  int begun_ = 0;
};

TEST_F(LoopTest, MeasuresTheStepsAfterTheWarmup) {
  Loop loop(timers_, *trainer_, log_, {.warmup = 2, .steps = 3});
  run(loop);
  EXPECT_EQ(begun_, 5);
  EXPECT_EQ(log_.told, "begin 3 4 5 end ");
  EXPECT_EQ(loop.results().size(), 3U);
  EXPECT_EQ(loop.first_loss(), 1);
  EXPECT_EQ(loop.final_loss(), 5);
  EXPECT_EQ(timers_.samples_s(Region::batch).size(), 3U);
  EXPECT_EQ(timers_.samples_s(Region::epoch).size(), 1U);
}

TEST_F(LoopTest, HasEpochsOfTheirLength) {
  Loop loop(timers_, *trainer_, log_, {.warmup = 0, .steps = 5, .steps_per_epoch = 2});
  run(loop);
  EXPECT_EQ(log_.told, "begin 1 2 end begin 3 4 end begin 5 end ");
  EXPECT_EQ(loop.epochs(), 3);
  EXPECT_EQ(loop.whole_epochs(), 2);
  EXPECT_EQ(timers_.samples_s(Region::epoch).size(), 3U);
}

TEST(EpochLength, IsRoundedUpToWholeSteps) {
  CommonArguments arguments{.epochs = 5};
  set_epoch_length(arguments, 4, 10);
  EXPECT_EQ(arguments.steps, 15);
  EXPECT_EQ(loop_options(arguments).steps_per_epoch, 3);
}

TEST(EpochLength, IsWhatTheUserSays) {
  CommonArguments arguments{.steps = 7, .samples_per_epoch = 8};
  set_epoch_length(arguments, 4, 100);
  EXPECT_EQ(arguments.steps, 7);
  EXPECT_EQ(arguments.steps_per_epoch, 2);
}

TEST(EpochLength, MustBeKnown) {
  CommonArguments arguments{.epochs = 1};
  EXPECT_THROW(set_epoch_length(arguments, 4, std::nullopt), UsageError);
  EXPECT_THROW(loop_options(arguments), UsageError);
}

TEST(EpochLength, IsThatOfEvaluationsBetweenThem) {
  EXPECT_EQ(steps_of_epochs({.steps_per_epoch = 3}, 2), 6);
  EXPECT_EQ(steps_of_epochs({}, 0), 0);
  EXPECT_THROW(steps_of_epochs({}, 2), UsageError);
}

TEST_F(LoopTest, EndsWithTheStepThatDiverges) {
  Loop loop(timers_, *trainer_, log_, {.warmup = 2, .steps = 9});
  run(loop, 4);
  EXPECT_EQ(begun_, 4);
  EXPECT_EQ(loop.diverged_at(), 4);
  EXPECT_FALSE(loop.ended_well());
}

TEST_F(LoopTest, MeasuresNothingAfterAWarmupThatDiverges) {
  Loop loop(timers_, *trainer_, log_, {.warmup = 3, .steps = 9});
  run(loop, 2);
  EXPECT_EQ(begun_, 2);
  EXPECT_EQ(loop.diverged_at(), 2);
  EXPECT_TRUE(loop.results().empty());
  EXPECT_EQ(log_.told, "");
}

TEST_F(LoopTest, EndsWithTheFirstStepBehindTheTimeLimit) {
  Loop loop(timers_, *trainer_, log_, {.warmup = 0, .steps = 1000, .time_limit_s = 1e-9});
  run(loop);
  EXPECT_EQ(begun_, 1);
  EXPECT_TRUE(loop.ended_well());
}

TEST_F(LoopTest, EndsWhenItsProgramHasFinished) {
  Loop loop(timers_, *trainer_, log_, {.warmup = 1, .steps = 9, .steps_per_epoch = 3});
  loop.after("evaluation", 2, [&] { loop.finish(); });
  run(loop);
  EXPECT_EQ(begun_, 3);
  EXPECT_EQ(log_.told, "begin 2 3 end ");
  EXPECT_TRUE(loop.ended_well());
}

TEST_F(LoopTest, CallsWorkBetweenSteps) {
  std::vector<int> after_two;
  std::vector<int> after_epochs;
  Loop loop(timers_, *trainer_, log_, {.warmup = 1, .steps = 5, .steps_per_epoch = 3});
  loop.after("checkpoint", 2, [&] { after_two.push_back(begun_ - 1); });
  loop.after("evaluation", 0, [&] { after_epochs.push_back(begun_ - 1); });
  run(loop);
  EXPECT_THAT(after_two, ElementsAre(2, 4));
  EXPECT_THAT(after_epochs, ElementsAre(3, 5));
  EXPECT_EQ(timers_.asides_s("checkpoint").size(), 2U);
}

TEST_F(LoopTest, TellsTheLogHowLongWorkBetweenStepsTook) {
  Loop loop(timers_, *trainer_, log_, {.warmup = 1, .steps = 5});
  loop.after("checkpoint", 2, [] {});
  run(loop);
  EXPECT_THAT(log_.paused_s, testing::SizeIs(2));
  EXPECT_EQ(log_.paused_s, timers_.asides_s("checkpoint"));
}

/// Another model of one weight, trained at a rate of 1 by the sign of its gradient (Adam).
class SecondModel {
 public:
  explicit SecondModel(Communicator& alone) {
    module_->register_parameter("weight", weight_);
    trainer_ =
        std::make_unique<Trainer>(TrainingContext{.ranks = alone, .device = torch::kCPU}, *module_,
                                  TrainerOptions{.optimizer = make_adamw({.weight_decay = 0}),
                                                 .learning_rate = [](std::int64_t) { return 1.0; },
                                                 .report_gradient_norm = true});
  }
  Trainer& trainer() { return *trainer_; }
  const torch::Tensor& weight() const { return weight_; }

 private:
  std::shared_ptr<torch::nn::Module> module_ = std::make_shared<torch::nn::Module>("second");
  torch::Tensor weight_ = torch::zeros({1}, torch::requires_grad());
  std::unique_ptr<Trainer> trainer_;
};

TEST_F(LoopTest, UpdatesAnotherModelAsOftenAsAStepDoes) {
  SecondModel second(alone_);
  Loop loop(timers_, *trainer_, log_, {.warmup = 1, .steps = 2});
  while (loop.next()) {
    for (int i = 0; i < 5; ++i) {
      const torch::Tensor loss = loop.forward([&] { return second.weight().sum(); });
      loop.backward([&] { second.trainer().backward(loss); });
      loop.update(second.trainer());
    }
    trainer_->backward((weight_ * 0 + 7).sum());
    loop.update();
  }
  EXPECT_NEAR(second.weight().item<double>(), -15, 1e-3);
  EXPECT_EQ(second.trainer().steps(), 15);
  EXPECT_EQ(trainer_->steps(), 3);
  EXPECT_EQ(log_.told, "begin 7 7 end ");
  EXPECT_EQ(timers_.samples_s(Region::optimizer).size(), 2U * 6);
}

TEST_F(LoopTest, EndsWithTheStepInWhichAnotherModelDiverges) {
  SecondModel second(alone_);
  Loop loop(timers_, *trainer_, log_, {.warmup = 1, .steps = 9});
  while (loop.next()) {
    ++begun_;
    second.trainer().backward(second.weight().sum() * (begun_ == 3 ? std::nan("") : 1));
    loop.update(second.trainer());
    trainer_->backward((weight_ * 0).sum());
    loop.update();
  }
  EXPECT_EQ(begun_, 3);
  EXPECT_EQ(loop.diverged_at(), 3);
}

TEST_F(LoopTest, TracesThreeMoreSteps) {
  const Folder folder;
  const std::string file = folder.file("trace.json");
  Loop loop(timers_, *trainer_, log_, {.warmup = 1, .steps = 2, .profile_file = file});
  run(loop);
  EXPECT_EQ(begun_, 6);
  EXPECT_EQ(loop.results().size(), 2U);
  EXPECT_EQ(loop.final_loss(), 3);
  const std::string trace = read_text(file);
  EXPECT_THAT(trace,
              StartsWith("{\"traceEvents\": [\n{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": "));
  EXPECT_THAT(trace, HasSubstr("\"aten::mul\""));
  EXPECT_THAT(trace, EndsWith("}\n]}\n"));
}

TEST_F(LoopTest, RefusesATraceThatCannotBeWritten) {
  EXPECT_THROW(Loop(timers_, *trainer_, log_, {.profile_file = "/nowhere/trace.json"}), UsageError);
}

}  // namespace
}  // namespace bench::steps
