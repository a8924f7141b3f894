// Batch normalisation beside LibTorch's own.

#include "vision/network/batch_norm.hpp"

#include <cmath>
#include <limits>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

namespace bench::vision {
namespace {

constexpr double epsilon = 1e-3;
constexpr double momentum = 0.3;

torch::nn::BatchNorm2d libtorchs(const BatchNorm& ours) {
  torch::nn::BatchNorm2d theirs(
      torch::nn::BatchNorm2dOptions(ours->weight.numel()).eps(epsilon).momentum(momentum));
  const torch::NoGradGuard no_gradient;
  theirs->weight.copy_(ours->weight);
  theirs->bias.copy_(ours->bias);
  return theirs;
}

/// With factors and summands that are not those of the beginning.
BatchNorm some_normalisation(std::int64_t channels) {
  BatchNorm module(channels, Normalisation{.epsilon = epsilon, .momentum = momentum});
  const torch::NoGradGuard no_gradient;
  module->weight.copy_(torch::rand(channels) + 0.5);
  module->bias.copy_(torch::randn(channels));
  return module;
}

torch::Tensor some_images(at::IntArrayRef shape) {
  return (torch::randn(shape) * 3 + 5).requires_grad_();  // a mean that is not lost in the noise
}

struct NormalisedImages {
  const char* name;
  std::vector<std::int64_t> shape;
};
void PrintTo(const NormalisedImages& given, std::ostream* out) {
  *out << given.name;
}

class BatchNormTest : public testing::TestWithParam<NormalisedImages> {
 protected:
  BatchNormTest() { torch::manual_seed(3); }
};

INSTANTIATE_TEST_SUITE_P(Vision, BatchNormTest,
                         testing::Values(NormalisedImages{"SmallImages", {2, 3, 5, 7}},
                                         NormalisedImages{"OnePixel", {9, 4, 1, 1}},
                                         NormalisedImages{"OneImage", {1, 4, 3, 3}},
                                         NormalisedImages{"FourPixels", {8, 33, 2, 2}},
                                         NormalisedImages{"LongRuns", {2, 3, 130, 131}},
                                         NormalisedImages{"AllThreads", {8, 128, 16, 16}}),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(BatchNormTest, GivesWhatLibTorchGives) {
  BatchNorm ours = some_normalisation(GetParam().shape[1]);
  torch::nn::BatchNorm2d theirs = libtorchs(ours);
  for (int step = 0; step < 2; ++step) {
    const torch::Tensor images = some_images(GetParam().shape);
    EXPECT_TRUE(torch::allclose(ours->forward(images), theirs->forward(images), 1e-4, 1e-5));
  }
  EXPECT_TRUE(
      torch::allclose(ours->named_buffers()["running_mean"], theirs->running_mean, 1e-5, 1e-6));
  EXPECT_TRUE(
      torch::allclose(ours->named_buffers()["running_var"], theirs->running_var, 1e-5, 1e-6));
}

TEST_P(BatchNormTest, HasTheGradientsThatLibTorchHas) {
  BatchNorm ours = some_normalisation(GetParam().shape[1]);
  torch::nn::BatchNorm2d theirs = libtorchs(ours);
  const torch::Tensor images = some_images(GetParam().shape);
  const torch::Tensor same_images = images.detach().clone().requires_grad_();
  const torch::Tensor slopes = torch::randn(GetParam().shape) + 0.5;
  ours->forward(images).backward(slopes);
  theirs->forward(same_images).backward(slopes);
  EXPECT_TRUE(torch::allclose(images.grad(), same_images.grad(), 1e-3, 1e-4));
  EXPECT_TRUE(torch::allclose(ours->weight.grad(), theirs->weight.grad(), 1e-3, 1e-3));
  EXPECT_TRUE(torch::allclose(ours->bias.grad(), theirs->bias.grad(), 1e-4, 1e-3));
}

TEST_P(BatchNormTest, TakesGradientsInAnyOrderOfMemory) {
  BatchNorm module = some_normalisation(GetParam().shape[1]);
  const torch::Tensor images = some_images(GetParam().shape);
  const torch::Tensor slopes = torch::randn(GetParam().shape);
  const auto gradient = [&](const torch::Tensor& of_output) {
    return torch::autograd::grad({module->forward(images)}, {images}, {of_output})[0];
  };
  EXPECT_TRUE(torch::equal(gradient(slopes),
                           gradient(slopes.contiguous(torch::MemoryFormat::ChannelsLast))));
}

TEST_P(BatchNormTest, NormalisesByTheRunningStatisticsInAnEvaluation) {
  BatchNorm ours = some_normalisation(GetParam().shape[1]);
  torch::nn::BatchNorm2d theirs = libtorchs(ours);
  const torch::Tensor images = some_images(GetParam().shape);
  ours->forward(images);
  theirs->forward(images);
  ours->eval();
  theirs->eval();
  EXPECT_TRUE(torch::allclose(ours->forward(images), theirs->forward(images), 1e-4, 1e-4));
}

TEST(BatchNorm, NormalisesFeaturesAsImagesOfOnePixel) {
  const torch::Tensor features = some_images({6, 4}).detach();
  BatchNorm module = some_normalisation(4);
  const torch::Tensor normalised = module->forward(features);
  const torch::Tensor of_images = module->forward(features.view({6, 4, 1, 1}));
  EXPECT_TRUE(torch::allclose(normalised, of_images.flatten(1), 1e-4, 1e-5));
}

TEST(BatchNorm, KeepsTheOrderOfMemory) {
  BatchNorm module = some_normalisation(3);
  const torch::Tensor images =
      some_images({2, 3, 4, 4}).contiguous(torch::MemoryFormat::ChannelsLast);
  EXPECT_TRUE(module->forward(images).is_contiguous(torch::MemoryFormat::ChannelsLast));
}

TEST(BatchNorm, LeavesAFactorThatIsConstantWithoutGradient) {
  BatchNorm module = some_normalisation(3);
  module->weight.set_requires_grad(false);
  module->forward(some_images({2, 3, 4, 4})).sum().backward();
  EXPECT_FALSE(module->weight.grad().defined());
  EXPECT_TRUE(module->bias.grad().defined());
}

TEST(BatchNorm, KeepsWhatIsNotANumber) {
  BatchNorm module = some_normalisation(2);
  torch::Tensor images = torch::randn({2, 2, 3, 3});
  images[0][1][0][0] = std::numeric_limits<float>::quiet_NaN();
  const torch::Tensor normalised = module->forward(images);
  EXPECT_TRUE(normalised.select(1, 0).isfinite().all().item<bool>());
  EXPECT_TRUE(normalised.select(1, 1).isnan().all().item<bool>());
}

TEST(BatchNorm, RefusesOneNumberPerChannel) {
  BatchNorm module = some_normalisation(3);
  EXPECT_THROW(module->forward(some_images({1, 3, 1, 1})), c10::Error);
}

}  // namespace
}  // namespace bench::vision
