#pragma once

#include "harness/torch_all.hpp"
#include "vision/architecture.hpp"

#include <vector>

namespace bench::vision {

/// Convolution and batch normalisation: (B, in, H, W) -> (B, out, H/stride, W/stride).
class ConvolutionNormImpl : public torch::nn::Module {
 public:
  explicit ConvolutionNormImpl(const Convolution& shape);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::nn::Conv2d convolution_;
  torch::nn::BatchNorm2d norm_;
};
TORCH_MODULE(ConvolutionNorm);

/// (B, in, H, W) -> (B, out, H/stride, W/stride).
class ResidualBlockImpl : public torch::nn::Module {
 public:
  explicit ResidualBlockImpl(const Block& block);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  std::vector<ConvolutionNorm> path_;
  ConvolutionNorm shortcut_{nullptr};  // empty where the block's input is added as it is
};
TORCH_MODULE(ResidualBlock);

/// Images (B, 3, S, S) -> class scores (B, classes).
///
/// Weights begin as in torchvision: convolutions normal after He et al. (arXiv:1502.01852) by fan
/// out, normalisations 1 and 0, the classifier uniform within 1/sqrt(features).
class ResNetImpl : public torch::nn::Module {
 public:
  explicit ResNetImpl(const Architecture& architecture);
  torch::Tensor forward(const torch::Tensor& images);

 private:
  ConvolutionNorm stem_;
  std::vector<ResidualBlock> blocks_;
  torch::nn::Linear classifier_;
};
TORCH_MODULE(ResNet);

}  // namespace bench::vision
