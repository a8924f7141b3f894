#include "harness/sgd.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

/// A matrix, a vector, a convolution weight with its channels together, and one above the size
/// from which threads share a tensor.
std::vector<torch::Tensor> some_parameters() {
  torch::manual_seed(7);
  std::vector<torch::Tensor> parameters = {
      torch::randn({5, 3}), torch::randn({11}),
      torch::randn({8, 4, 3, 3}).contiguous(torch::MemoryFormat::ChannelsLast),
      torch::randn({300, 400})};
  for (torch::Tensor& parameter : parameters)
    parameter.requires_grad_();
  return parameters;
}

void set_gradients(std::vector<torch::Tensor>& parameters, int step) {
  torch::manual_seed(static_cast<std::uint64_t>(100 + step));
  for (torch::Tensor& parameter : parameters)
    parameter.mutable_grad() = torch::randn_like(parameter.detach());
}

/// Four steps from the same gradients.
void expect_equal_steps(const Sgd::Options& options) {
  std::vector<torch::Tensor> ours = some_parameters();
  std::vector<torch::Tensor> theirs = some_parameters();
  Sgd sgd(ours, options);
  torch::optim::SGD reference(theirs, torch::optim::SGDOptions(options.learning_rate)
                                          .momentum(options.momentum)
                                          .weight_decay(options.weight_decay));
  for (int step = 0; step < 4; ++step) {
    set_gradients(ours, step);
    set_gradients(theirs, step);
    sgd.step();
    reference.step();
  }
  // Sums are rounded in another order, a few units in the last place per step.
  for (std::size_t i = 0; i < ours.size(); ++i)
    EXPECT_TRUE(torch::allclose(ours[i], theirs[i], 1e-5, 1e-6)) << "parameter " << i;
}

TEST(Sgd, EqualsTheOptimizerOfLibTorch) {
  const std::pair<const char*, Sgd::Options> cases[] = {
      {"defaults", {}},
      {"no momentum", {0.5, 0.0, 1e-2}},
      {"no decay", {0.01, 0.99, 0.0}},
      {"foreach", {0.1, 0.9, 1e-4, true}},
  };
  for (const auto& [name, options] : cases) {
    SCOPED_TRACE(name);
    expect_equal_steps(options);
  }
}

TEST(Sgd, ScalesGradients) {
  for (const bool foreach : {false, true}) {
    torch::Tensor parameter = torch::ones({4}).requires_grad_();
    Sgd sgd({parameter}, {0.5, 0.0, 0.0, foreach});
    parameter.mutable_grad() = torch::full({4}, 128.0);
    sgd.step(1.0 / 128.0);
    EXPECT_TRUE(torch::equal(parameter, torch::full({4}, 0.5))) << foreach;
  }
}

TEST(Sgd, FollowsAGradientInAnotherOrderOfMemory) {
  torch::Tensor parameter = torch::zeros({2, 3}).requires_grad_();
  Sgd sgd({parameter}, {1.0, 0.0, 0.0});
  const torch::Tensor gradient = torch::arange(6, torch::kFloat).view({3, 2}).t();
  ASSERT_FALSE(gradient.is_contiguous());
  parameter.mutable_grad() = gradient;
  sgd.step();
  EXPECT_TRUE(torch::equal(parameter, -gradient));
}

TEST(Sgd, LeavesParametersWithoutGradientAlone) {
  for (const bool foreach : {false, true}) {
    const torch::Tensor parameter = torch::ones({3}).requires_grad_();
    Sgd sgd({parameter}, {1.0, 0.9, 0.5, foreach});
    sgd.step();
    EXPECT_TRUE(torch::equal(parameter, torch::ones({3}))) << foreach;
  }
}

TEST(Sgd, ReleasesGradients) {
  std::vector<torch::Tensor> parameters = some_parameters();
  set_gradients(parameters, 0);
  Sgd sgd(parameters, {});
  sgd.release_gradients();
  for (const torch::Tensor& parameter : parameters)
    EXPECT_FALSE(parameter.grad().defined());
}

TEST(Sgd, RefusesWhatItCannotWalk) {
  EXPECT_THROW(Sgd({torch::ones({2}, torch::kDouble)}, {}), std::invalid_argument);
  EXPECT_THROW(Sgd({torch::ones({4, 4}).narrow(1, 0, 2)}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace bench::steps
