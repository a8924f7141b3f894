#pragma once

#include "ap4/sample.hpp"
#include "harness/torch_all.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace bench::ap4 {

/// Channels of each level of the U-Net, from the full resolution to the lowest.
inline constexpr std::array<std::int64_t, 3> level_channels{32, 64, 128};

/// Points of the grid on the side of one at the lowest level.
inline constexpr std::int64_t grid_divisor = std::int64_t{1} << (level_channels.size() - 1);

/// Mean, and logarithm of the standard deviation.
inline constexpr std::int64_t output_count = 2;

/// Twice a 3x3 convolution, a batch normalisation and ReLU:
/// (B, in, H, W) -> (B, middle, H, W) -> (B, out, H, W).
class BlockImpl : public torch::nn::Module {
 public:
  BlockImpl(std::int64_t in, std::int64_t middle, std::int64_t out);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::nn::Conv2d first_;
  torch::nn::BatchNorm2d first_norm_;
  torch::nn::Conv2d second_;
  torch::nn::BatchNorm2d second_norm_;
};
TORCH_MODULE(Block);

/// Doubles the resolution bilinearly and puts it behind what the encoder kept, whose size it gets:
/// a row that is missing is the first one again.
/// @param x (B, C, h, w)
/// @param skip (B, D, H, W), H = 2h or 2h + 1, W = 2w
/// @returns (B, D + C, H, W)
torch::Tensor join_enlarged(const torch::Tensor& x, const torch::Tensor& skip);

/// The network of MAELSTROM's AP4, which predicts the distribution of the geopotential at each grid
/// point from an ensemble: (B, 14, H, W) -> (B, 2, H, W). The outputs are relative to the
/// ensemble's own distribution, see `crps_loss`.
///
/// Sources: Ashkboos et al., ENS-10 (arXiv:2206.14786), whose U-Net it is; MAELSTROM deliverable
/// D3.7, section on AP4; Ronneberger et al., U-Net (arXiv:1505.04597).
class UNetImpl : public torch::nn::Module {
 public:
  UNetImpl();
  /// @param x H and W as in `check_grid`
  torch::Tensor forward(torch::Tensor x);

 private:
  std::vector<Block> encoder_;  // from the full resolution down
  std::vector<Block> decoder_;  // from the lowest resolution up
  torch::nn::Conv2d head_;
};
TORCH_MODULE(UNet);

}  // namespace bench::ap4
