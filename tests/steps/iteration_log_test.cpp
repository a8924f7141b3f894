#include "harness/optimizer.hpp"
#include "steps/paused.hpp"
#include "transformer/report.hpp"

#include <gmock/gmock.h>

namespace bench::transformer {
namespace {

using testing::HasSubstr;
using testing::Not;

class IterationLogTest : public testing::Test {
 protected:
  steps::Communicator alone_;
  torch::nn::Linear model_{2, 2};
  steps::Trainer trainer_{{.ranks = alone_, .device = torch::kCPU},
                          *model_,
                          {.optimizer = steps::make_adamw({.weight_decay = 0}),
                           .learning_rate = [](std::int64_t) { return 0.0; }}};
  TrainingOptions options_;
};

TEST_F(IterationLogTest, CountsNoPause) {
  options_.log_interval = 1;
  IterationLog log(options_, trainer_, 8, {});
  const steps::PausedStep step = steps::paused_step(log, {});
  EXPECT_LE(steps::number_behind(step.printed, "elapsed time per iteration (s): "),
            step.most_s + 0.0001)
      << step.printed;
}

// As Megatron-LM does, which prints no loss where no iteration has one.
TEST_F(IterationLogTest, LeavesSkippedIterationsOutOfTheLoss) {
  options_.log_interval = 2;
  IterationLog log(options_, trainer_, 8, {});
  const auto line_of = [&](const steps::StepResult& first, const steps::StepResult& second) {
    testing::internal::CaptureStdout();
    log.add({.result = first});
    log.add({.result = second});
    return testing::internal::GetCapturedStdout();
  };
  log.begin();
  EXPECT_THAT(line_of({.loss = 3}, {.loss = 100, .skipped = true}),
              HasSubstr("| lm loss: 3.000000E+00 | loss scale: "));
  EXPECT_THAT(line_of({.loss = 5, .skipped = true}, {.loss = 7, .skipped = true}),
              Not(HasSubstr("lm loss")));
  EXPECT_THAT(line_of({.loss = 1}, {.loss = 2}), HasSubstr("| lm loss: 1.500000E+00 "));
}

}  // namespace
}  // namespace bench::transformer
