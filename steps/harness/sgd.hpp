#pragma once

#include "harness/optimizer.hpp"

namespace bench::steps {

/// Stochastic gradient descent with momentum and L2 weight decay over a row of weights.
///
///     g = gradient * gradient_scale + weight_decay * w
///     v = momentum * v + g                               (v begins as 0)
///     w = w - learning_rate * v
///
/// The arithmetic of torch::optim::SGD without Nesterov and dampening; weight decay is for all
/// weights, as there. Source: Sutskever et al., On the importance of initialization and momentum in
/// deep learning (ICML 2013), section 2, in the form of PyTorch's documentation.
class Sgd : public Optimizer {
 public:
  struct Options {
    double momentum = 0.9;
    double weight_decay = 1e-4;
  };

  Sgd(OptimizerRows rows, const Options& options);

  void step(double learning_rate, double gradient_scale) override;
  void save(SavedState& state) const override;
  void load(const SavedState& state) override;

 private:
  void step_in_one_pass(float learning_rate, float gradient_scale) const;
  void step_with_kernels(double learning_rate, double gradient_scale);

  OptimizerRows rows_;
  torch::Tensor velocity_;  // v
  Options options_;
};

MakeOptimizer make_sgd(const Sgd::Options& options);

}  // namespace bench::steps
