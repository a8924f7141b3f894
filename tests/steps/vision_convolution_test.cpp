// Convolutions beside LibTorch's own.

#include "harness/precision.hpp"
#include "vision/network/convolution.hpp"

#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bench::vision {
namespace {

struct ConvolvedImages {
  const char* name;
  Convolution shape;
  std::vector<std::int64_t> images;
  bool by_product = false;
};
void PrintTo(const ConvolvedImages& given, std::ostream* out) {
  *out << given.name;
}

class ConvolutionTest : public testing::TestWithParam<ConvolvedImages> {
 protected:
  ConvolutionTest() : ours(GetParam().images[1], GetParam().shape) {
    torch::manual_seed(5);
    const torch::NoGradGuard no_gradient;
    for (torch::Tensor& parameter : ours->parameters())
      parameter.copy_(torch::randn(parameter.sizes()));
  }

  torch::Tensor libtorchs(const torch::Tensor& images) {
    const Convolution& c = GetParam().shape;
    const bool half = c.padding == Padding::half;
    return torch::conv2d(images, ours->weight, ours->bias, c.stride,
                         half ? std::vector<std::int64_t>{c.kernel.height / 2, c.kernel.width / 2}
                              : std::vector<std::int64_t>{0, 0});
  }

  ConvolutionLayer ours;
};

// Where the gradient is one product, and what differs from that in one thing.
INSTANTIATE_TEST_SUITE_P(
    Vision, ConvolutionTest,
    testing::Values(ConvolvedImages{"FourPixels", {6, 3}, {4, 5, 2, 2}, true},
                    ConvolvedImages{"OnePixel", {6, 3}, {4, 5, 1, 1}, true},
                    ConvolvedImages{"Stride", {6, 3, 2}, {5, 3, 4, 3}, true},
                    ConvolvedImages{"LongKernel", {6, {1, 7}}, {4, 5, 1, 4}, true},
                    ConvolvedImages{"NoPadding", {6, 3, 1, Padding::none}, {4, 5, 4, 4}, true},
                    ConvolvedImages{"SixPixels", {6, 3}, {4, 5, 2, 3}},
                    ConvolvedImages{"ThreeImages", {6, 3}, {3, 5, 2, 2}},
                    ConvolvedImages{"KernelOfOnePixel", {6, 1}, {4, 17, 2, 2}, true},
                    ConvolvedImages{"KernelOfOnePixelWithStride", {6, 1, 2}, {2, 17, 5, 4}, true},
                    ConvolvedImages{"OneImage", {6, 1}, {1, 17, 2, 2}},
                    ConvolvedImages{"MorePixelsThanChannels", {6, 1}, {4, 15, 2, 2}},
                    ConvolvedImages{"Bias", {6, 3, 1, Padding::half, true}, {4, 5, 2, 2}}),
    [](const auto& instance) { return instance.param.name; });

TEST_P(ConvolutionTest, GivesWhatLibTorchGives) {
  const torch::Tensor images = torch::randn(GetParam().images);
  EXPECT_TRUE(torch::equal(ours->forward(images), libtorchs(images)));
}

TEST_P(ConvolutionTest, TakesTheProductWhereItIsSooner) {
  const auto node = ours->forward(torch::randn(GetParam().images)).grad_fn();
  EXPECT_EQ(node->name().find("ConvolutionByProduct") != std::string::npos, GetParam().by_product)
      << node->name();
}

TEST_P(ConvolutionTest, HasTheGradientsThatLibTorchHas) {
  const torch::Tensor images = torch::randn(GetParam().images).requires_grad_();
  std::vector<torch::Tensor> inputs = ours->parameters();
  inputs.push_back(images);
  const torch::Tensor output = ours->forward(images);
  const torch::Tensor slopes = torch::randn(output.sizes());
  const auto found = torch::autograd::grad({output}, inputs, {slopes});
  const auto expected = torch::autograd::grad({libtorchs(images)}, inputs, {slopes});
  for (std::size_t i = 0; i < inputs.size(); ++i)
    EXPECT_TRUE(torch::allclose(found[i], expected[i], 1e-4, 1e-4));
}

TEST_P(ConvolutionTest, HasGradientsWhereAutocastRounds) {
  const torch::Tensor images = torch::randn(GetParam().images).requires_grad_();
  const auto gradients = [&](bool rounded) {
    const steps::Autocast autocast(torch::kCPU,
                                   rounded ? steps::Precision::bf16 : steps::Precision::fp32);
    return torch::autograd::grad({ours->forward(images).sum()}, {images, ours->weight});
  };
  const auto exact = gradients(false);
  const auto found = gradients(true);
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_TRUE(torch::allclose(found[i], exact[i], 0.02, 0.2));
}

// As the first layer of a network has it.
TEST_P(ConvolutionTest, HasNoGradientOfImagesThatNeedNone) {
  ours->forward(torch::randn(GetParam().images)).sum().backward();
  EXPECT_TRUE(ours->weight.grad().defined());
}

TEST_P(ConvolutionTest, TakesChannelsThatLieTogether) {
  const torch::Tensor images =
      torch::randn(GetParam().images).contiguous(torch::MemoryFormat::ChannelsLast);
  EXPECT_TRUE(torch::allclose(ours->forward(images), libtorchs(images), 1e-4, 1e-4));
}

}  // namespace
}  // namespace bench::vision
