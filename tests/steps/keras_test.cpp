#include "harness/keras.hpp"

#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

/// A module of one layer, as a network is one of several.
template <typename Layer>
Layer initialised(Layer layer) {
  torch::manual_seed(1);
  keras::initialise(*layer);
  return layer;
}

/// Expects a uniform distribution within sqrt(6 / (fan in + fan out)).
void expect_glorot_uniform(const torch::Tensor& weight, std::int64_t fans) {
  const double bound = std::sqrt(6.0 / static_cast<double>(fans));
  EXPECT_LE(weight.abs().max().item<double>(), bound);
  EXPECT_NEAR(weight.std().item<double>(), bound / std::sqrt(3), 0.03 * bound);
}

TEST(Keras, ConvolutionsAndLinearLayersBeginGlorotUniform) {
  const auto convolution = initialised(torch::nn::Conv1d(40, 60, 5));
  expect_glorot_uniform(convolution->weight, (40 + 60) * 5);
  EXPECT_EQ(convolution->bias.abs().max().item<double>(), 0);
  const auto linear = initialised(torch::nn::Linear(100, 200));
  expect_glorot_uniform(linear->weight, 300);
  EXPECT_EQ(linear->bias.abs().max().item<double>(), 0);
}

// Cut at two of its own standard deviations, a normal distribution keeps 0.8796 of its deviation.
TEST(Keras, HeNormalIsCutAndHasItsVariance) {
  torch::manual_seed(1);
  const torch::Tensor weight = torch::empty({100, 40, 3, 3});
  keras::he_normal(weight);
  const double deviation = std::sqrt(2.0 / (40 * 9));
  EXPECT_NEAR(weight.std().item<double>(), deviation, 0.01 * deviation);
  EXPECT_NEAR(weight.abs().max().item<double>(), 2 * deviation / 0.8796, 0.01 * deviation);
  EXPECT_NEAR(weight.mean().item<double>(), 0, 0.02 * deviation);
}

TEST(Keras, LayersOfModulesInsideAModuleAreInitialised) {
  torch::nn::Sequential network(torch::nn::Sequential(torch::nn::Linear(100, 200)));
  torch::manual_seed(1);
  keras::initialise(*network);
  expect_glorot_uniform(network->parameters()[0], 300);
}

TEST(Keras, AnLstmBeginsOpenAndOrthogonal) {
  const auto lstm = initialised(torch::nn::LSTM(100, 50));
  const auto parameters = lstm->named_parameters();
  expect_glorot_uniform(parameters["weight_ih_l0"], 100 + 4 * 50);
  const torch::Tensor& recurrent = parameters["weight_hh_l0"];  // (200, 50)
  EXPECT_TRUE(torch::allclose(recurrent.t().matmul(recurrent), torch::eye(50), 1e-4, 1e-5));
  const torch::Tensor gates = parameters["bias_ih_l0"].view({4, 50});
  EXPECT_TRUE(torch::equal(gates[1], torch::ones(50)));  // the forget gate
  EXPECT_EQ(gates.sum().item<double>(), 50);
}

TEST(Keras, AnLstmLearnsOneBiasVector) {
  const auto lstm = initialised(torch::nn::LSTM(7, 5));
  const auto parameters = lstm->named_parameters();
  EXPECT_TRUE(parameters["bias_ih_l0"].requires_grad());
  EXPECT_FALSE(parameters["bias_hh_l0"].requires_grad());
  EXPECT_EQ(parameters["bias_hh_l0"].abs().max().item<double>(), 0);
}

}  // namespace
}  // namespace bench::steps
