#include "harness/trainer.hpp"

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

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
