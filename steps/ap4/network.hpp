#pragma once

#include "ap4/data.hpp"
#include "harness/cost.hpp"
#include "harness/torch_all.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace CLI {
class App;
}

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

/// Of `UNet`.
/// @param grid as in `check_grid`
steps::Cost cost(const Grid& grid);

/// Continuous ranked probability score of normal distributions, in the unit of the error:
///
///     s (z erf(z / sqrt(2)) + 2 phi(z) - 1 / sqrt(pi)),  z = error / s
///
/// Source: Gneiting et al., Calibrated Probabilistic Forecasting Using Ensemble Model Output
/// Statistics and Minimum CRPS Estimation (Monthly Weather Review 133, 2005), eq. 5.
/// @param error predicted mean minus observation
/// @param deviation s, the predicted standard deviation, of the same shape; positive
/// @returns the scores, in that shape
torch::Tensor gaussian_crps(const torch::Tensor& error, const torch::Tensor& deviation);

/// Mean CRPS of the network's distributions: N(m + s a, (s exp(b))^2) with outputs a and b, and
/// mean m and standard deviation s of the ensemble.
/// @param output (B, 2, H, W)
/// @param scale (B, 2, H, W): m and s
/// @param target (B, 1, H, W), whose precision the loss has: fp32 also with autocast
torch::Tensor crps_loss(const torch::Tensor& output, const torch::Tensor& scale,
                        const torch::Tensor& target);

/// Adds `--height` and `--width`.
void add_grid_options(CLI::App& app, Grid& grid);

/// @throws steps::UsageError if the network cannot be trained on batches of such fields: their
///         height is not a multiple of 4 or one more, or a normalisation has a single value
void check_grid(const Grid& grid, std::int64_t batch_size);

}  // namespace bench::ap4
