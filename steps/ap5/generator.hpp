#pragma once

#include "ap5/layer.hpp"
#include "ap5/sample.hpp"
#include "harness/torch_all.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace bench::ap5 {

/// Channels of each level of the generator, from the full resolution to the lowest.
inline constexpr std::array<std::int64_t, 4> generator_channels{56, 112, 224, 448};

/// Divides height and width of the grid.
inline constexpr std::int64_t grid_divisor = std::int64_t{1} << (generator_channels.size() - 1);

/// Doubles the resolution: a convolution makes four times the channels, of which each four become
/// a square of points. Joins what the encoder kept of that resolution.
/// (B, in, H, W), (B, out, 2H, 2W) -> (B, out, 2H, 2W).
///
/// Source of the sub-pixel convolution: Shi et al. (CVPR 2016, arXiv:1609.05158). TensorFlow has
/// another order of the channels, which are permuted by that.
class UpImpl : public torch::nn::Module {
 public:
  UpImpl(std::int64_t in, std::int64_t out);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& skip);
  void initialise_after_he();

 private:
  torch::nn::Conv2d enlarge_;
  Layer first_;
  Layer second_;
};
TORCH_MODULE(Up);

/// The generator of MAELSTROM's AP5, which makes fine fields from coarse ones:
/// (B, 15, H, W) -> (B, 2, H, W), temperature and surface height.
///
/// Sources: Sha et al., Deep-Learning-Based Gridded Downscaling of Surface Meteorological Variables
/// in Complex Terrain (JAMC 2020, 10.1175/JAMC-D-20-0057.1), whose U-Net it is; MAELSTROM
/// deliverable D3.7, section 4.8. Weights begin as in Keras.
class GeneratorImpl : public torch::nn::Module {
 public:
  GeneratorImpl();
  /// @param x H and W are multiples of `grid_divisor`
  torch::Tensor forward(torch::Tensor x);

 private:
  std::vector<Layer> encoder_;
  Layer second_;  // at the full resolution
  std::vector<Up> decoder_;
  torch::nn::Conv2d temperature_;
  torch::nn::Conv2d height_;
};
TORCH_MODULE(Generator);

}  // namespace bench::ap5
