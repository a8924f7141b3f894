#pragma once

#include "harness/optimizer.hpp"

namespace bench::steps {

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
class Lamb : public Optimizer {
 public:
  struct Options {
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-6;
    double weight_decay = 0.01;
  };

  Lamb(OptimizerRows rows, const Options& options);

  void step(double learning_rate, double gradient_scale) override;
  /// Both moments and the number of steps.
  void save(SavedState& state) const override;
  void load(const SavedState& state) override;

 private:
  torch::Tensor update(double gradient_scale);
  torch::Tensor trust_ratios(const torch::Tensor& update) const;

  OptimizerRows rows_;
  torch::Tensor mean_;      // m
  torch::Tensor variance_;  // v
  Options options_;
  std::int64_t steps_ = 0;  // t
};

MakeOptimizer make_lamb(const Lamb::Options& options);

}  // namespace bench::steps
