#pragma once

#include "ap1/sample.hpp"
#include "harness/torch_all.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace bench::ap1 {

/// Channels of each level of the U-Net, from the full resolution to the lowest, which halves from
/// level to level.
inline constexpr std::array<std::int64_t, 6> level_channels{16, 32, 64, 128, 256, 512};

/// Divides the side of a patch.
inline constexpr std::int64_t patch_divisor = std::int64_t{1} << (level_channels.size() - 1);

enum class Activation { relu, leaky_relu };

/// Twice a 1x1 convolution, a batch normalisation that learns nothing, and the activation:
/// (B, in, H, W) -> (B, out, H, W).
class BlockImpl : public torch::nn::Module {
 public:
  BlockImpl(std::int64_t in, std::int64_t out, Activation activation);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  Activation activation_;
  torch::nn::Conv2d first_;
  torch::nn::BatchNorm2d first_norm_;
  torch::nn::Conv2d second_;
  torch::nn::BatchNorm2d second_norm_;
};
TORCH_MODULE(Block);

/// Doubles the resolution and joins what the encoder kept of it:
/// (B, in, H, W), (B, out, 2H, 2W) -> (B, out, 2H, 2W).
class UpImpl : public torch::nn::Module {
 public:
  UpImpl(std::int64_t in, std::int64_t out, Activation activation);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& skip);

 private:
  Activation activation_;
  torch::nn::Conv2d reduce_;
  torch::nn::Conv2d smooth_;
  Block block_;
};
TORCH_MODULE(Up);

/// The network of MAELSTROM's AP1, which predicts quantiles of the temperature's correction at each
/// grid point: (B, 17, P, P) -> (B, 3, P, P). Its convolutions see one point, but for those of 2x2
/// that smooth what is enlarged.
///
/// Sources: Nipen et al., MAELSTROM deliverable D3.7, section on AP1, whose numbers of parameters
/// this network has; Ronneberger et al., U-Net (arXiv:1505.04597). Weights begin as in Keras.
class UNetImpl : public torch::nn::Module {
 public:
  explicit UNetImpl(Activation activation = Activation::relu);
  /// @param x P is a multiple of `patch_divisor`
  torch::Tensor forward(torch::Tensor x);

 private:
  std::vector<Block> encoder_;
  Block bottom_;
  std::vector<Up> decoder_;  // from the lowest resolution up
  torch::nn::Conv2d head_;
};
TORCH_MODULE(UNet);

}  // namespace bench::ap1
