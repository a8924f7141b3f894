#include "harness/optimizer.hpp"
#include "steps/in_ranks.hpp"
#include "vision/architecture.hpp"
#include "vision/data.hpp"
#include "vision/evaluation.hpp"
#include "vision/network/model.hpp"
#include "vision/options.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#ifdef BENCH_STEPS_GLOO

namespace bench::vision {
namespace {

/// Evaluates as a rank whose batch normalisations have seen other images than those of the others:
/// with running means of its rank.
/// @returns one of the means after it
double mean_after_evaluation(steps::Communicator& ranks) {
  Options options;
  options.ranks = ranks.size();
  options.model = "resnet18";
  options.image_size = 32;
  options.classes = 3;
  options.common.batch_size = 1;
  options.eval_steps = 1;
  const torch::Device cpu(torch::kCPU);
  Network model = build_model(options, make_architecture(options.model, options.classes), cpu);
  const steps::Trainer trainer(
      {.ranks = ranks, .device = cpu}, *model,
      {.optimizer = steps::make_sgd({}), .learning_rate = [](std::int64_t) { return 0.0; }});
  torch::Tensor mean;  // after the trainer, which copies those of rank 0
  for (const auto& buffer : model->named_buffers())
    if (buffer.key().ends_with("running_mean"))
      mean = buffer.value().fill_(ranks.rank());
  const Dataset dataset(options, steps::Ranks{}, ranks, cpu);
  return evaluate(options, dataset, model, trainer, 1) ? mean[0].item<double>() : -1;
}

TEST(VisionEvaluation, HasTheSameRunningStatisticsOnAllRanks) {
  std::vector<double> means(2);
  testing::internal::CaptureStdout();
  steps::in_ranks(2, [&](steps::Communicator& ranks) {
    means.at(static_cast<std::size_t>(ranks.rank())) = mean_after_evaluation(ranks);
  });
  testing::internal::GetCapturedStdout();
  EXPECT_EQ(means, (std::vector<double>{0.5, 0.5}));
}

}  // namespace
}  // namespace bench::vision

#endif
