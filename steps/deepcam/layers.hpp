#pragma once

#include "deepcam/architecture.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <vector>

namespace bench::deepcam {

/// In place, so only of a tensor that its layer does not need for its gradient.
torch::Tensor rectified(torch::Tensor x);

struct ConvolutionSizes {
  std::int64_t in;
  std::int64_t out;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
};

/// Without bias, padded to (H / stride, W / stride). Weights begin normally distributed after He et
/// al. (arXiv:1502.01852), eq. 10.
torch::nn::Conv2d make_convolution(const ConvolutionSizes& sizes);

/// Without bias: (B, in, H, W) -> (B, out, 2H, 2W).
torch::nn::ConvTranspose2d make_doubling(std::int64_t in, std::int64_t out);

/// A convolution, a batch normalisation and a ReLU: (B, in, H, W) -> (B, out, H / stride, ...).
class ConvolutionReluImpl : public torch::nn::Module {
 public:
  explicit ConvolutionReluImpl(const ConvolutionSizes& sizes);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::nn::Conv2d convolution_;
  torch::nn::BatchNorm2d norm_;
};
TORCH_MODULE(ConvolutionRelu);

/// A transposed convolution, a batch normalisation and a ReLU:
/// (B, in, H, W) -> (B, out, 2H, 2W).
class DoublingReluImpl : public torch::nn::Module {
 public:
  DoublingReluImpl(std::int64_t in, std::int64_t out);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::nn::ConvTranspose2d convolution_;
  torch::nn::BatchNorm2d norm_;
};
TORCH_MODULE(DoublingRelu);

/// A separable convolution, and its normalisation if it has one:
/// (B, in, H, W) -> (B, out, H / stride, W / stride).
class SeparableLayerImpl : public torch::nn::Module {
 public:
  explicit SeparableLayerImpl(const Separable& sizes);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::nn::Conv2d depthwise_;
  torch::nn::Conv2d pointwise_;
  torch::nn::BatchNorm2d norm_{nullptr};
};
TORCH_MODULE(SeparableLayer);

/// A residual block: (B, in, H, W) -> (B, out, H / stride, W / stride).
class ResidualBlockImpl : public torch::nn::Module {
 public:
  explicit ResidualBlockImpl(const Block& block);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  struct Step {
    SeparableLayer layer;
    bool relu;  ///< Behind it.
  };

  std::vector<Step> steps_;
  torch::nn::Conv2d shortcut_{nullptr};
  torch::nn::BatchNorm2d shortcut_norm_{nullptr};
  bool relu_;
};
TORCH_MODULE(ResidualBlock);

}  // namespace bench::deepcam
