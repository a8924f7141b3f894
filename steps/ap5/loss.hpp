#pragma once

#include "ap5/critic.hpp"
#include "ap5/generator.hpp"
#include "harness/torch_all.hpp"

namespace bench::ap5 {

// Losses of a Wasserstein GAN with gradient penalty: Gulrajani et al., Improved Training of
// Wasserstein GANs (arXiv:1704.00028), algorithm 1, as MAELSTROM's AP5 changed it. The critic sees
// temperatures alone.

inline constexpr double penalty_weight = 10;
inline constexpr double reconstruction_weight = 1000;

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

}  // namespace bench::ap5
