#pragma once

#include "harness/optimizer.hpp"
#include "harness/saved_state.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>

namespace bench::steps {

/// AdamW over a row of weights: on the CPU in one pass over memory.
///
///     g = gradient * gradient_scale
///     m = beta1 * m + (1 - beta1) * g
///     v = beta2 * v + (1 - beta2) * g^2
///     w = w * (1 - learning_rate * weight_decay)      (parameters of 2 and more dimensions)
///     w = w - learning_rate * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon)
///
/// Adam is the same without decay, or with that of `l2`:
///
///     g = gradient * gradient_scale + weight_decay * w   (all parameters, as in
///     torch::optim::Adam)
///
/// Source: Loshchilov and Hutter, Decoupled Weight Decay
/// Regularization (arXiv:1711.05101), algorithm 2, with the learning rate as factor of the decay as
/// in PyTorch and Megatron-LM.
class AdamW : public Optimizer {
 public:
  struct Options {
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 0.1;
    bool l2 = false;  ///< Adam: the decay is part of the gradient.
  };

  AdamW(OptimizerRows rows, const Options& options);

  void step(double learning_rate, double gradient_scale) override;
  /// Both moments and the number of steps.
  void save(SavedState& state) const override;
  void load(const SavedState& state) override;

 private:
  struct Factors;
  void step_in_one_pass(const Factors& factors);
  void step_with_kernels(const Factors& factors);

  OptimizerRows rows_;
  torch::Tensor mean_;      // m
  torch::Tensor variance_;  // v
  Options options_;
  std::int64_t steps_ = 0;  // t
};

MakeOptimizer make_adamw(const AdamW::Options& options);

}  // namespace bench::steps
