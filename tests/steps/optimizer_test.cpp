#include "harness/optimizer.hpp"

#include "harness/data_parallel.hpp"
#include "harness/flat_parameters.hpp"
#include "harness/precision.hpp"

#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace bench::steps {

/// The rows of an optimizer over all parameters.
inline OptimizerRows rows_of(const FlatParameters& flat) {
  OptimizerRows rows{.weights = flat.values(),
                     .gradients = flat.gradients(),
                     .matrix_numbers = flat.matrix_numbers()};
  for (const FlatParameters::Slot& slot : flat.slots())
    rows.parameters.push_back(slot.range);
  return rows;
}

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

torch::Tensor gradient_for(const torch::Tensor& parameter, int step) {
  torch::manual_seed(static_cast<std::uint64_t>(100 + step) +
                     static_cast<std::uint64_t>(parameter.numel()));
  return torch::randn(parameter.sizes());
}

/// Takes some steps of `matrices_and_vectors` with the same gradients, ours scaled, and compares
/// the weights. Sums are rounded in another order, a few units in the last place per step.
/// @param learning_rate that of LibTorch's optimizer, too
void expect_steps_of_libtorch(const MakeOptimizer& make_optimizer,
                              const std::vector<torch::Tensor>& theirs,
                              torch::optim::Optimizer& reference, double learning_rate) {
  constexpr double scale = 128;
  const std::vector<torch::Tensor> ours = matrices_and_vectors();
  const FlatParameters flat(ours);
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(rows_of(flat));
  for (int step = 0; step < 4; ++step) {
    for (std::size_t i = 0; i < ours.size(); ++i) {
      torch::Tensor(theirs[i]).mutable_grad() = gradient_for(theirs[i], step);
      flat.gradient_of(ours[i]).copy_(theirs[i].grad() * scale);
    }
    optimizer->step(learning_rate, 1 / scale);
    reference.step();
  }
  for (std::size_t i = 0; i < ours.size(); ++i)
    EXPECT_TRUE(torch::allclose(ours[i], theirs[i], 1e-5, 1e-6)) << "parameter " << i;
}

/// LibTorch's own, which has one decay for all parameters of a group: matrices decay.
torch::optim::AdamW adamw_of_libtorch(const std::vector<torch::Tensor>& parameters,
                                      double learning_rate, const AdamWOptions& options) {
  torch::optim::AdamWOptions with(learning_rate);
  with.betas({options.beta1, options.beta2}).eps(options.epsilon);
  torch::optim::AdamWOptions without = with;
  with.weight_decay(options.weight_decay);
  without.weight_decay(0);
  std::vector<torch::Tensor> decaying;
  std::vector<torch::Tensor> others;
  for (const torch::Tensor& parameter : parameters)
    (parameter.dim() >= 2 ? decaying : others).push_back(parameter);
  return torch::optim::AdamW({{decaying, std::make_unique<torch::optim::AdamWOptions>(with)},
                              {others, std::make_unique<torch::optim::AdamWOptions>(without)}},
                             with);
}

TEST(AdamW, EqualsTheOptimizerOfLibTorch) {
  const std::pair<const char*, AdamWOptions> cases[] = {
      {"defaults", {}},
      {"as EPICURE", {.beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.01}},
      {"Adam", {.weight_decay = 0}},
  };
  for (const auto& [name, options] : cases) {
    SCOPED_TRACE(name);
    const std::vector<torch::Tensor> theirs = matrices_and_vectors();
    torch::optim::AdamW reference = adamw_of_libtorch(theirs, 0.01, options);
    expect_steps_of_libtorch(make_adamw(options), theirs, reference, 0.01);
  }
}

TEST(AdamW, WithAnL2PenaltyEqualsAdamOfLibTorch) {
  const AdamWOptions options{.epsilon = 1e-6, .weight_decay = 0.3, .l2 = true};
  const std::vector<torch::Tensor> theirs = matrices_and_vectors();
  torch::optim::Adam reference(
      theirs,
      torch::optim::AdamOptions(0.01).eps(options.epsilon).weight_decay(options.weight_decay));
  expect_steps_of_libtorch(make_adamw(options), theirs, reference, 0.01);
}

/// LAMB of one parameter, step by step as its paper has it.
struct LambReference {
  torch::Tensor w;
  torch::Tensor m = torch::zeros_like(w);
  torch::Tensor v = torch::zeros_like(w);
  int t = 0;

  void step(const torch::Tensor& g, double learning_rate, const LambOptions& options) {
    ++t;
    m = options.beta1 * m + (1 - options.beta1) * g;
    v = options.beta2 * v + (1 - options.beta2) * g * g;
    torch::Tensor u = m / (1 - std::pow(options.beta1, t)) /
                      ((v / (1 - std::pow(options.beta2, t))).sqrt() + options.epsilon);
    if (w.dim() < 2) {
      w = w - learning_rate * u;
      return;
    }
    u = u + options.weight_decay * w;
    w = w - learning_rate * w.norm() / u.norm() * u;
  }
};

TEST(Lamb, FollowsItsDefinition) {
  const LambOptions options{.weight_decay = 0.1};
  const std::vector<torch::Tensor> parameters = matrices_and_vectors();
  std::vector<LambReference> references;
  for (const torch::Tensor& parameter : matrices_and_vectors())
    references.push_back({parameter.detach().clone()});
  const FlatParameters flat(parameters);
  const auto lamb = make_lamb(options)(rows_of(flat));
  for (int step = 0; step < 3; ++step) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const torch::Tensor gradient = gradient_for(parameters[i], step);
      flat.gradient_of(parameters[i]).copy_(gradient * 2);
      references[i].step(gradient, 0.01, options);
    }
    lamb->step(0.01, 0.5);
  }
  for (std::size_t i = 0; i < parameters.size(); ++i)
    EXPECT_TRUE(torch::allclose(parameters[i], references[i].w, 1e-5, 1e-6)) << "parameter " << i;
}

TEST(Lamb, AParameterOfZerosIsUpdatedWithoutATrustRatio) {
  const std::vector<torch::Tensor> parameters{torch::zeros({4, 4}).requires_grad_()};
  const FlatParameters flat(parameters);
  const auto lamb = make_lamb({})(rows_of(flat));
  flat.gradients().fill_(1);
  lamb->step(0.5, 1);
  EXPECT_TRUE(torch::allclose(parameters[0], torch::full({4, 4}, -0.5), 1e-4));
}

TEST(FlatParameters, KeepsTheValuesOfTheParameters) {
  const std::vector<torch::Tensor> before = matrices_and_vectors();
  const std::vector<torch::Tensor> parameters = matrices_and_vectors();
  const FlatParameters flat(parameters);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_TRUE(torch::equal(parameters[i], before[i])) << "parameter " << i;
}

TEST(FlatParameters, KeepsTheOrderOfMemory) {
  const torch::Tensor weight =
      torch::randn({8, 4, 3, 3}).contiguous(torch::MemoryFormat::ChannelsLast).requires_grad_();
  const torch::Tensor before = weight.detach().clone();
  const FlatParameters flat({weight});
  EXPECT_TRUE(weight.is_contiguous(torch::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(torch::equal(weight, before));
  EXPECT_EQ(flat.gradient_of(weight).strides(), weight.strides());
}

// In the row: 5 x 3 and 300 x 400, then 11 and 7, each from a multiple of 16 on.
TEST(FlatParameters, AlignsEachParameter) {
  const FlatParameters flat(matrices_and_vectors(), 1000);
  std::vector<std::int64_t> begins;
  for (const FlatParameters::Slot& slot : flat.slots())
    begins.push_back(slot.range.begin);
  EXPECT_EQ(begins, (std::vector<std::int64_t>{0, 16, 120'016, 120'032}));
  EXPECT_EQ(flat.matrix_numbers(), 120'016);
  EXPECT_EQ(flat.values().numel(), 121'000);
  EXPECT_EQ(flat.gradients().numel(), 121'000);
  EXPECT_EQ(flat.values()[15].item<float>(), 0);
  EXPECT_EQ(flat.values().narrow(0, 120'039, 961).abs().max().item<float>(), 0);
}

TEST(FlatParameters, LeavesOutWhatIsFrozen) {
  std::vector<torch::Tensor> parameters = matrices_and_vectors();
  parameters[2].requires_grad_(false);
  EXPECT_EQ(FlatParameters(parameters).values().numel(), 3 * FlatParameters::alignment);
  for (torch::Tensor& parameter : parameters)
    parameter.requires_grad_(false);
  EXPECT_THROW(FlatParameters{parameters}, std::invalid_argument);
}

TEST(FlatParameters, TellsItsOwnFromCopies) {
  const std::vector<torch::Tensor> parameters = matrices_and_vectors();
  const FlatParameters flat(parameters, 1, {parameters[1], parameters[0]});
  // In the row: 300 x 400, 5 x 3 (a copy), 7, 11 (a copy).
  ASSERT_EQ(flat.own().size(), 2U);
  EXPECT_EQ(flat.own()[0].begin, 0);
  EXPECT_EQ(flat.own()[0].end, 120'000);
  EXPECT_EQ(flat.own()[1].begin, 120'016);
  EXPECT_EQ(flat.own()[1].end, 120'023);
  EXPECT_THROW(flat.gradient_of(torch::zeros({5, 3})), std::invalid_argument);
}

// Each step is far below what bf16 tells apart near 1; their sum is not.
TEST(ShardedOptimizer, KeepsFullPrecisionBesideHalf) {
  const std::vector<torch::Tensor> parameters = matrices_and_vectors(torch::kBFloat16);
  FlatParameters flat(parameters);
  Communicator alone;
  ShardedOptimizer optimizer(flat, alone, alone, make_adamw({.weight_decay = 0}), true);
  const torch::Tensor before = parameters[2].detach().clone();
  for (int step = 0; step < 200; ++step) {
    flat.gradients().fill_(1);
    optimizer.step(1e-4, 1);
    if (step == 0) {
      EXPECT_GT(torch::eq(parameters[2], before).to(torch::kFloat).mean().item<float>(), 0.5);
    }
  }
  const torch::Tensor way = parameters[2].to(torch::kFloat) - before.to(torch::kFloat);
  EXPECT_NEAR(way.mean().item<double>(), -200 * 1e-4, 1e-3);
}

TEST(ShardedOptimizer, HasTheNormOfAllGradients) {
  const std::vector<torch::Tensor> parameters = matrices_and_vectors();
  FlatParameters flat(parameters);
  Communicator alone;
  ShardedOptimizer optimizer(flat, alone, alone, make_adamw({.weight_decay = 0}), true);
  double squares = 0;
  for (const torch::Tensor& parameter : parameters) {
    flat.gradient_of(parameter).copy_(gradient_for(parameter, 0));
    squares += gradient_for(parameter, 0).square().sum().item<double>();
  }
  EXPECT_NEAR(optimizer.gradient_norm().item<double>(), std::sqrt(squares), 1e-3);
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

TEST(Sgd, EqualsTheOptimizerOfLibTorch) {
  struct Case {
    const char* name;
    double learning_rate;
    SgdOptions options;
  };
  const Case cases[] = {
      {"defaults", 0.1, {}},
      {"no momentum", 0.5, {.momentum = 0, .weight_decay = 1e-2}},
      {"no decay", 0.01, {.momentum = 0.99, .weight_decay = 0}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::vector<torch::Tensor> theirs = matrices_and_vectors();
    torch::optim::SGD reference(theirs, torch::optim::SGDOptions(c.learning_rate)
                                            .momentum(c.options.momentum)
                                            .weight_decay(c.options.weight_decay));
    expect_steps_of_libtorch(make_sgd(c.options), theirs, reference, c.learning_rate);
  }
}

TEST(Sgd, RefusesRowsThatDoNotFit) {
  const MakeOptimizer make = make_sgd({});
  EXPECT_THROW(make({.weights = torch::ones({2}, torch::kDouble), .gradients = torch::ones({2})}),
               std::invalid_argument);
  EXPECT_THROW(make({.weights = torch::ones({2}), .gradients = torch::ones({3})}),
               std::invalid_argument);
}

}  // namespace
}  // namespace bench::steps
