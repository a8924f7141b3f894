#include "harness/adamw.hpp"

#include "harness/flat_parameters.hpp"
#include "harness/loss_scale.hpp"
#include "harness/sharded_adamw.hpp"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

/// Matrices decay and vectors do not; one is above the size from which threads share a row.
std::vector<torch::Tensor> matrices_and_vectors(torch::ScalarType type = torch::kFloat) {
  torch::manual_seed(7);
  std::vector<torch::Tensor> parameters = {torch::randn({11}), torch::randn({5, 3}),
                                           torch::randn({300, 400}), torch::randn({7})};
  for (torch::Tensor& parameter : parameters)
    parameter = parameter.to(type).requires_grad_();
  return parameters;
}

void draw_gradients(const std::vector<torch::Tensor>& parameters, int step, double factor = 1) {
  torch::manual_seed(static_cast<std::uint64_t>(100 + step));
  for (torch::Tensor parameter : parameters)
    parameter.mutable_grad() =
        (torch::randn(parameter.sizes()) * factor).to(parameter.scalar_type());
}

/// LibTorch's own, which has one decay for all parameters of a group.
class Reference {
 public:
  Reference(const std::vector<torch::Tensor>& parameters, double learning_rate,
            const AdamW::Options& options) {
    std::vector<torch::Tensor> decaying;
    std::vector<torch::Tensor> others;
    for (const torch::Tensor& parameter : parameters)
      (parameter.dim() >= 2 ? decaying : others).push_back(parameter);
    const auto base = torch::optim::AdamWOptions(learning_rate)
                          .betas({options.beta1, options.beta2})
                          .eps(options.epsilon);
    auto with = base;
    auto without = base;
    with.weight_decay(options.weight_decay);
    without.weight_decay(0);
    decaying_.emplace(decaying, with);
    others_.emplace(others, without);
  }
  void step() {
    decaying_->step();
    others_->step();
  }

 private:
  std::optional<torch::optim::AdamW> decaying_;
  std::optional<torch::optim::AdamW> others_;
};

TEST(AdamW, EqualsTheOptimizerOfLibTorch) {
  const std::pair<const char*, AdamW::Options> cases[] = {
      {"defaults", {}},
      {"as EPICURE", {.beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.01}},
      {"kernels", {.kernels = true}},
  };
  for (const auto& [name, options] : cases) {
    SCOPED_TRACE(name);
    const std::vector<torch::Tensor> ours = matrices_and_vectors();
    const std::vector<torch::Tensor> theirs = matrices_and_vectors();
    FlatParameters flat(ours);
    AdamW adamw(flat.values(), flat.gradients(), flat.decaying(), options);
    Reference reference(theirs, 0.01, options);
    for (int step = 0; step < 4; ++step) {
      draw_gradients(ours, step, 3);
      draw_gradients(theirs, step);
      flat.begin_step();
      flat.take_gradients();
      adamw.step(0.01, 1.0 / 3);
      reference.step();
    }
    for (std::size_t i = 0; i < ours.size(); ++i)
      EXPECT_TRUE(torch::allclose(ours[i], theirs[i], 1e-5, 1e-6)) << "parameter " << i;
  }
}

TEST(FlatParameters, KeepsTheValuesOfTheParameters) {
  const std::vector<torch::Tensor> before = matrices_and_vectors();
  const std::vector<torch::Tensor> parameters = matrices_and_vectors();
  const FlatParameters flat(parameters);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_TRUE(torch::equal(parameters[i], before[i])) << "parameter " << i;
  EXPECT_EQ(flat.decaying(), 5 * 3 + 300 * 400);
  EXPECT_EQ(flat.values().numel(), 5 * 3 + 300 * 400 + 11 + 7);
}

TEST(FlatParameters, AddsTheGradientsOfAStep) {
  const std::vector<torch::Tensor> parameters = matrices_and_vectors();
  FlatParameters flat(parameters);
  for (int step = 0; step < 2; ++step) {  // the second step forgets the first
    flat.begin_step();
    for (int pass = 0; pass < 3; ++pass) {
      draw_gradients(parameters, 0);
      flat.take_gradients();
      EXPECT_FALSE(parameters[0].grad().defined());
    }
  }
  draw_gradients(parameters, 0);
  EXPECT_TRUE(
      torch::allclose(flat.gradients().narrow(0, 0, 15), 3 * parameters[1].grad().flatten()));
}

TEST(FlatParameters, TakesParametersWithoutAGradientAsZero) {
  const std::vector<torch::Tensor> parameters = matrices_and_vectors();
  FlatParameters flat(parameters);
  draw_gradients(parameters, 0);
  flat.take_gradients();
  flat.begin_step();
  flat.take_gradients();
  EXPECT_EQ(flat.gradients().abs().max().item<float>(), 0);
}

TEST(FlatParameters, FillsUpToAMultiple) {
  const std::vector<torch::Tensor> parameters = matrices_and_vectors();
  const FlatParameters flat(parameters, 1000);
  EXPECT_EQ(flat.values().numel(), 121'000);
  EXPECT_EQ(flat.gradients().numel(), 121'000);
  EXPECT_EQ(flat.values().narrow(0, 120'033, 967).abs().max().item<float>(), 0);
}

TEST(FlatParameters, TellsItsOwnFromCopies) {
  const std::vector<torch::Tensor> parameters = matrices_and_vectors();
  FlatParameters flat(parameters, 1, {parameters[1], parameters[0]});
  // In the row: 300 x 400, 5 x 3 (a copy), 7, 11 (a copy).
  ASSERT_EQ(flat.own().size(), 2U);
  EXPECT_EQ(flat.own()[0].begin, 0);
  EXPECT_EQ(flat.own()[0].end, 120'000);
  EXPECT_EQ(flat.own()[1].begin, 120'015);
  EXPECT_EQ(flat.own()[1].end, 120'022);
  EXPECT_EQ(flat.decaying(), 120'015);
  draw_gradients(parameters, 0);
  const torch::Tensor gradient = parameters[1].grad().clone();
  flat.take_gradients();
  EXPECT_TRUE(torch::equal(flat.gradient_of(parameters[1]), gradient));
  EXPECT_THROW(flat.gradient_of(torch::zeros({5, 3})), std::invalid_argument);
}

// Each step is far below what bf16 tells apart near 1; their sum is not.
TEST(ShardedAdamW, KeepsFullPrecisionBesideHalf) {
  const std::vector<torch::Tensor> parameters = matrices_and_vectors(torch::kBFloat16);
  FlatParameters flat(parameters);
  Communicator alone;
  ShardedAdamW adamw(flat, alone, alone, {.weight_decay = 0}, true);
  const torch::Tensor before = parameters[2].detach().clone();
  for (int step = 0; step < 200; ++step) {
    for (torch::Tensor parameter : parameters)
      parameter.mutable_grad() = torch::ones_like(parameter.detach());
    flat.begin_step();
    flat.take_gradients();
    adamw.reduce_gradients();
    adamw.step(1e-4, 1);
    if (step == 0) {
      EXPECT_GT(torch::eq(parameters[2], before).to(torch::kFloat).mean().item<float>(), 0.5);
    }
  }
  const torch::Tensor way = parameters[2].to(torch::kFloat) - before.to(torch::kFloat);
  EXPECT_NEAR(way.mean().item<double>(), -200 * 1e-4, 1e-3);
}

TEST(ShardedAdamW, HasTheNormOfAllGradients) {
  const std::vector<torch::Tensor> parameters = matrices_and_vectors();
  FlatParameters flat(parameters);
  Communicator alone;
  ShardedAdamW adamw(flat, alone, alone, {}, true);
  draw_gradients(parameters, 0);
  double squares = 0;
  for (const torch::Tensor& parameter : parameters)
    squares += parameter.grad().square().sum().item<double>();
  flat.take_gradients();
  EXPECT_NEAR(adamw.gradient_norm(), std::sqrt(squares), 1e-3);
}

TEST(DynamicLossScale, FollowsTheRule) {
  DynamicLossScale scale({.initial = 8, .least = 2, .window = 3, .hysteresis = 2});
  struct Step {
    bool finite;
    double scale_after;
    bool goes_on;
  };
  const Step steps[] = {
      {false, 8, true},  // patience
      {false, 4, true},  // halved
      {false, 2, true},  // and again at once, since no window has passed
      {true, 2, true},   {true, 2, true}, {true, 4, true},  // doubled, patience is back
      {false, 4, true},  {true, 4, true}, {false, 2, true},
      {false, 2, false},  // nothing left to halve
  };
  int number = 0;
  for (const Step& step : steps) {
    SCOPED_TRACE(number++);
    EXPECT_EQ(scale.update(step.finite), step.goes_on);
    EXPECT_EQ(scale.scale(), step.scale_after);
  }
}

}  // namespace
}  // namespace bench::steps
