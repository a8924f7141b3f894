#pragma once

#include "ap5/data.hpp"
#include "harness/cost.hpp"
#include "harness/torch_all.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace bench::ap5 {

/// A 3x3 convolution, a batch normalisation as in Keras, and swish.
class LayerImpl : public torch::nn::Module {
 public:
  /// @param stride 1 keeps height and width, 2 halves them (an odd one rounded up). The padding is
  ///        that of TensorFlow's `same`: what is odd lies at the right and below.
  LayerImpl(std::int64_t in, std::int64_t out, std::int64_t stride = 1);
  /// @param x (B, in, H, W)
  /// @returns (B, out, H, W) or (B, out, ceil(H / 2), ceil(W / 2))
  torch::Tensor forward(const torch::Tensor& x);

  /// The weights of the convolution become normal after He.
  void initialise_after_he();

 private:
  torch::nn::Conv2d convolution_;
  torch::nn::BatchNorm2d norm_;
};
TORCH_MODULE(Layer);

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

/// The critic of MAELSTROM's AP5, which scores fields of temperature: (B, 1, H, W) -> (B, 1).
/// Source: MAELSTROM deliverable D3.7, section 4.8. Weights begin as in Keras.
class CriticImpl : public torch::nn::Module {
 public:
  CriticImpl();
  torch::Tensor forward(torch::Tensor x);

 private:
  std::vector<Layer> layers_;
  torch::nn::Linear dense_;
  torch::nn::Linear score_;
};
TORCH_MODULE(Critic);

/// The cost of a step: a few updates of the critic, then one of the generator, each on samples of
/// its own.
class WganCost {
 public:
  /// @param grid height and width are multiples of `grid_divisor`
  /// @param critic_updates of a step
  WganCost(const Grid& grid, std::int64_t critic_updates);

  const steps::Cost& generator() const { return generator_; }
  const steps::Cost& critic() const { return critic_; }
  std::int64_t trainable_parameters() const {
    return generator_.trainable_parameters() + critic_.trainable_parameters();
  }
  std::int64_t non_trainable_parameters() const {
    return generator_.non_trainable_parameters() + critic_.non_trainable_parameters();
  }

  /// Operations for each sample on which the generator is trained, from the multiply-adds G and C
  /// of the forward passes:
  ///
  ///     2 (updates (G + 6 C + 6 C) + 3 G + 2 C)
  ///
  /// An update of the critic passes samples forward through the generator, forward and backward
  /// through the critic (real and generated ones, 6 C), and through the critic's penalty, whose
  /// second derivative costs about as much. The generator's passes go through the critic, forward
  /// and to its input.
  std::int64_t training_flops_per_sample() const;
  /// Read for each sample on which the generator is trained, those of the critic included.
  std::int64_t step_bytes_per_sample() const;

  /// Parameters of both networks and of each, and what a sample costs, as lines `name=value`.
  void log() const;

 private:
  std::int64_t critic_updates_;
  steps::Cost generator_;
  steps::Cost critic_;
};

// Losses of a Wasserstein GAN with gradient penalty: Gulrajani et al., Improved Training of
// Wasserstein GANs (arXiv:1704.00028), algorithm 1, as MAELSTROM's AP5 changed it. The critic sees
// temperatures alone.

/// Mean over the samples of (|g| - 1)^2, where g is the critic's gradient at y + alpha (x - y). It
/// can be differentiated again.
///
/// In MAELSTROM's code |g| is the root of the mean of g^2 over the grid points, where the paper has
/// the sum, and alpha is normal, where the paper has a uniform distribution between 0 and 1.
/// @param generated x, (B, 1, H, W)
/// @param real y, (B, 1, H, W)
/// @param alpha (B, 1, 1, 1)
torch::Tensor gradient_penalty(Critic& critic, const torch::Tensor& generated,
                               const torch::Tensor& real, const torch::Tensor& alpha);

/// Mean score of the generated fields minus that of the real ones, and 10 times the penalty.
torch::Tensor critic_loss(Critic& critic, const torch::Tensor& generated, const torch::Tensor& real,
                          const torch::Tensor& alpha);

/// The same for what the generator makes, with random alphas. The generator gets no gradient.
/// @param predictors (B, 15, H, W)
/// @param target (B, 2, H, W), whose precision the loss has: fp32 also with autocast
torch::Tensor critic_loss(Generator& generator, Critic& critic, const torch::Tensor& predictors,
                          const torch::Tensor& target);

/// Mean absolute error, summed over temperature and height.
/// @param generated, target as for `generator_loss`
torch::Tensor reconstruction_loss(const torch::Tensor& generated, const torch::Tensor& target);

struct GeneratorLoss {
  torch::Tensor total;           ///< 1000 * reconstruction - mean score of the temperatures.
  torch::Tensor reconstruction;  ///< Of `reconstruction_loss`.
};

/// The critic's parameters get no gradient.
/// @param generated (B, 2, H, W)
/// @param target (B, 2, H, W), whose precision the loss has: fp32 also with autocast
GeneratorLoss generator_loss(Critic& critic, const torch::Tensor& generated,
                             const torch::Tensor& target);

/// The temperatures among the targets: (B, 2, H, W) -> (B, 1, H, W).
torch::Tensor temperature_of(const torch::Tensor& targets);

/// @throws steps::UsageError if the critic cannot be trained on batches of this size: a
///         normalisation over a single value has no variance
void check_batch_size(const Grid& grid, std::int64_t batch_size);

}  // namespace bench::ap5
