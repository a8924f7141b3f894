#pragma once

#include "harness/flat_parameters.hpp"
#include "harness/saved_state.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace bench::steps {

/// Updates a row of weights from a row of gradients.
class Optimizer {
 public:
  Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  /// @param gradient_scale factor of the gradients
  virtual void step(double learning_rate, double gradient_scale) = 0;

  /// The optimizer's own state; not the weights.
  virtual void save(SavedState& state) const = 0;
  virtual void load(const SavedState& state) = 0;
};

/// The rows of an optimizer: of all parameters, or of a rank's share of them.
struct OptimizerRows {
  torch::Tensor weights;            ///< fp32 (N), changed in place.
  torch::Tensor gradients;          ///< fp32 (N); their values are undefined after a step.
  std::int64_t matrix_numbers = 0;  ///< The first so many belong to parameters of 2 and more
                                    ///< dimensions.
  /// Where each parameter lies in the rows, cut to them; empty for one that other ranks have.
  std::vector<FlatParameters::Range> parameters = {};
  /// Sums a tensor over the ranks that have the other shares.
  std::function<void(const torch::Tensor&)> sum_over_shares = [](const torch::Tensor&) {};
};

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(OptimizerRows)>;

/// Stochastic gradient descent with momentum and L2 weight decay over a row of weights.
///
///     g = gradient * gradient_scale + weight_decay * w
///     v = momentum * v + g                               (v begins as 0)
///     w = w - learning_rate * v
///
/// The arithmetic of torch::optim::SGD without Nesterov and dampening; weight decay is for all
/// weights, as there. Source: Sutskever et al., On the importance of initialization and momentum in
/// deep learning (ICML 2013), section 2, in the form of PyTorch's documentation.
struct SgdOptions {
  double momentum = 0.9;
  double weight_decay = 1e-4;
};

MakeOptimizer make_sgd(const SgdOptions& options);

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
struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.1;
  bool l2 = false;  ///< Adam: the decay is part of the gradient.
};

MakeOptimizer make_adamw(const AdamWOptions& options);

/// LAMB over a row of weights: AdamW whose update of each parameter is as long as the parameter
/// itself, for large batches.
///
///     m, v as AdamW's, both divided by 1 - beta^t
///     u = m / (sqrt(v) + epsilon) + weight_decay * w
///     w = w - learning_rate * (|w| / |u|) * u            (norms of each parameter)
///
/// The factor |w| / |u| is 1 where one of the norms is 0, and for parameters of one dimension,
/// which have no decay. Source: You et al., Large Batch Optimization for Deep Learning: Training
/// BERT in 76 minutes (arXiv:1904.00962), algorithm 2.
struct LambOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay = 0.01;
};

MakeOptimizer make_lamb(const LambOptions& options);

}  // namespace bench::steps
