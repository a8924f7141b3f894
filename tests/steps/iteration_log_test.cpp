#include "transformer/iteration_log.hpp"

#include "harness/adamw.hpp"
#include "steps/paused.hpp"

#include <gtest/gtest.h>

namespace bench::transformer {
namespace {

TEST(IterationLog, CountsNoPause) {
  steps::Communicator alone;
  torch::nn::Linear model(2, 2);
  const steps::Trainer trainer({.ranks = alone, .device = torch::kCPU}, *model,
                               {.optimizer = steps::make_adamw({.weight_decay = 0}),
                                .learning_rate = [](std::int64_t) { return 0.0; }});
  TrainingOptions options;
  options.log_interval = 1;
  IterationLog log(options, trainer, 8, {});
  const steps::PausedStep step = steps::paused_step(log, {});
  EXPECT_LE(steps::number_behind(step.printed, "elapsed time per iteration (s): "),
            step.most_s + 0.0001)
      << step.printed;
}

}  // namespace
}  // namespace bench::transformer
