#pragma once

#include "ap1/data.hpp"
#include "harness/cost.hpp"
#include "harness/torch_all.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

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

/// Of `UNet`.
/// @param patch side of the square input in grid points, a multiple of `patch_divisor`
steps::Cost cost(std::int64_t patch);

/// Mean of the quantile scores (pinball losses) of the quantiles q = 0.1, 0.5 and 0.9:
/// mean of (q - 1{e < 0}) e, e = target - prediction.
/// Source: Koenker and Bassett, Regression Quantiles (Econometrica 46, 1978), eq. 2.3.
/// @param prediction (B, 3, P, P)
/// @param target (B, 1, P, P), whose precision the loss has: fp32 also with autocast
torch::Tensor quantile_loss(const torch::Tensor& prediction, const torch::Tensor& target);

struct NetworkOptions {
  std::int64_t patch = 256;  ///< Side in grid points.
  std::string activation_name = "relu";

  Activation activation() const {
    return activation_name == "relu" ? Activation::relu : Activation::leaky_relu;
  }
};

void add_network_options(CLI::App& app, NetworkOptions& options);

/// @throws steps::UsageError if the network cannot be trained on batches of this size: a
///         normalisation over a single value has no variance
void check_batch_size(const NetworkOptions& options, std::int64_t batch_size);

}  // namespace bench::ap1
