#pragma once

#include "harness/saved_state.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>

namespace bench::steps {

/// AdamW over a row of weights: on the CPU in one pass over memory.
///
///     g = gradient * gradient_scale
///     m = beta1 * m + (1 - beta1) * g
///     v = beta2 * v + (1 - beta2) * g^2
///     w = w * (1 - learning_rate * weight_decay)                                  (first part
///     only) w = w - learning_rate * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon)
///
/// Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization (arXiv:1711.05101),
/// algorithm 2, with the learning rate as factor of the decay as in PyTorch and Megatron-LM.
class AdamW {
 public:
  struct Options {
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 0.1;
    bool kernels = false;  ///< Use LibTorch's kernels, as always off the CPU.
  };

  /// @param weights fp32 (N), changed in place by `step`
  /// @param gradients fp32 (N), only read
  /// @param decaying how many of the weights, from the first on, decay
  AdamW(torch::Tensor weights, torch::Tensor gradients, std::int64_t decaying,
        const Options& options);

  /// @param gradient_scale what the gradients are multiplied by
  void step(double learning_rate, double gradient_scale);

  /// Both moments and the number of steps; not the weights.
  void save(SavedState& state) const;
  void load(const SavedState& state);

 private:
  struct Factors;
  void step_in_one_pass(const Factors& factors);
  void step_with_kernels(const Factors& factors);

  torch::Tensor weights_;
  torch::Tensor gradients_;
  torch::Tensor mean_;      // m
  torch::Tensor variance_;  // v
  std::int64_t decaying_;
  Options options_;
  std::int64_t steps_ = 0;
};

}  // namespace bench::steps
