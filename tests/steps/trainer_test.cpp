#include "harness/trainer.hpp"

#include "harness/optimizer.hpp"

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::steps {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

/// One weight w, whose loss is w times a number.
struct LineImpl : torch::nn::Module {
  LineImpl() { weight = register_parameter("weight", torch::full({1}, 2.0)); }
  torch::Tensor loss(double slope) { return (weight * slope).sum(); }
  torch::Tensor weight;
};
TORCH_MODULE(Line);

class TrainerTest : public testing::Test {
 protected:
  /// Plain gradient descent, with a rate of 1 unless the options say otherwise.
  std::unique_ptr<Trainer> trainer(TrainerOptions options = {},
                                   Precision precision = Precision::fp32) {
    options.optimizer = make_sgd({.momentum = 0, .weight_decay = 0});
    if (!options.learning_rate)
      options.learning_rate = [](std::int64_t) { return 1.0; };
    return std::make_unique<Trainer>(
        TrainingContext{.ranks = alone_, .device = torch::kCPU, .precision = precision}, *line_,
        std::move(options));
  }

  StepResult step(Trainer& trainer, const std::vector<double>& slopes) {
    for (const double slope : slopes)
      trainer.backward(line_->loss(slope));
    trainer.wait_for_gradients();
    trainer.update_weights();
    trainer.end_step();
    return trainer.newest_result().value();
  }

  double weight() const { return line_->weight.item<double>(); }

  Communicator alone_;
  Line line_;
};

TEST_F(TrainerTest, FollowsTheGradient) {
  const auto plain = trainer();
  EXPECT_DOUBLE_EQ(step(*plain, {0.5}).loss, 1);
  EXPECT_DOUBLE_EQ(weight(), 1.5);
}

TEST_F(TrainerTest, AStepHasTheMeanOverItsMicroBatches) {
  const auto accumulating = trainer({.micro_batches = 2});
  EXPECT_DOUBLE_EQ(step(*accumulating, {0.5, 0.25}).loss, 0.75);
  EXPECT_DOUBLE_EQ(weight(), 2 - 0.375);
}

TEST_F(TrainerTest, TheRateIsThatOfTheSamplesBefore) {
  const auto scheduled =
      trainer({.learning_rate = [](std::int64_t samples) { return samples == 0 ? 1.0 : 0.5; },
               .global_batch = 8});
  EXPECT_DOUBLE_EQ(step(*scheduled, {1}).learning_rate, 0.5);
  EXPECT_DOUBLE_EQ(weight(), 1);
  step(*scheduled, {1});
  EXPECT_DOUBLE_EQ(weight(), 0.5);
  EXPECT_EQ(scheduled->samples(), 16);
  EXPECT_EQ(scheduled->steps(), 2);
}

TEST_F(TrainerTest, ClipsTheNormOfTheGradients) {
  const auto clipping = trainer({.clip_gradient = 0.5});
  EXPECT_DOUBLE_EQ(step(*clipping, {4}).gradient_norm.value(), 4);
  EXPECT_NEAR(weight(), 1.5, 1e-6);
  EXPECT_DOUBLE_EQ(step(*clipping, {0.25}).gradient_norm.value(), 0.25);
  EXPECT_NEAR(weight(), 1.25, 1e-6);
}

TEST_F(TrainerTest, HasNoNormThatNobodyNeeds) {
  const auto plain = trainer();
  EXPECT_FALSE(step(*plain, {1}).gradient_norm);
  line_ = Line();
  const auto reporting = trainer({.report_gradient_norm = true});
  EXPECT_DOUBLE_EQ(step(*reporting, {1}).gradient_norm.value(), 1);
}

TEST_F(TrainerTest, SkipsAStepWhoseGradientIsNotFinite) {
  const auto scaled =
      trainer({.dynamic_loss_scale = DynamicLossScale::Options{.initial = 8}}, Precision::fp16);
  const StepResult result = step(*scaled, {INFINITY});
  EXPECT_TRUE(result.skipped);
  EXPECT_DOUBLE_EQ(result.loss_scale, 8);
  EXPECT_DOUBLE_EQ(weight(), 2);
  EXPECT_DOUBLE_EQ(step(*scaled, {0.5}).gradient_norm.value(), 0.5) << "not divided by the scale";
  EXPECT_DOUBLE_EQ(weight(), 1.5);
}

TEST_F(TrainerTest, ALossThatIsNotFiniteHasDiverged) {
  const auto plain = trainer();
  EXPECT_FALSE(step(*plain, {1}).diverged);
  EXPECT_TRUE(step(*plain, {NAN}).diverged);
}

TEST_F(TrainerTest, ReportsWhatItObserved) {
  const auto plain = trainer();
  plain->backward(line_->loss(1));
  plain->observe(torch::tensor(0.25));
  plain->observe(torch::tensor(4));
  plain->wait_for_gradients();
  plain->update_weights();
  plain->end_step();
  EXPECT_THAT(plain->newest_result().value().observed, ElementsAre(DoubleEq(0.25), DoubleEq(4)));
  EXPECT_EQ(plain->newest_result(), std::nullopt);
}

TEST_F(TrainerTest, GoesOnFromASavedState) {
  const auto before = trainer({.global_batch = 4});
  step(*before, {0.5});
  const SavedState saved = before->state();
  line_ = Line();
  const auto after = trainer({.global_batch = 4});
  after->restore(saved, saved);
  EXPECT_DOUBLE_EQ(weight(), 1.5);
  EXPECT_EQ(after->steps(), 1);
  EXPECT_EQ(after->samples(), 4);
}

TEST(FrozenParameters, GetNoGradientFromWhatTheyPassOn) {
  torch::nn::Linear generator(3, 2);
  torch::nn::Linear critic(2, 1);
  critic->bias.set_requires_grad(false);
  torch::Tensor loss;
  {
    const FrozenParameters frozen(*critic);
    loss = critic(generator(torch::ones({4, 3}))).sum();
  }
  loss.backward();
  EXPECT_GT(generator->weight.grad().abs().sum().item<double>(), 0);
  EXPECT_FALSE(critic->weight.grad().defined());
  EXPECT_TRUE(critic->weight.requires_grad());
  EXPECT_FALSE(critic->bias.requires_grad()) << "it was frozen before";
}

}  // namespace
}  // namespace bench::steps
