#pragma once

#include "harness/torch_all.hpp"
#include "harness/trainer.hpp"

namespace bench::vision {

/// Percentages of images whose label has the highest score, and whose label is among the five
/// highest (all, where there are fewer classes): (2), fp32.
/// @param scores (B, classes)
/// @param labels (B), int64
torch::Tensor accuracy_percents(const torch::Tensor& scores, const torch::Tensor& labels);

/// Their mean over the micro-batches of a step, for the log.
class MeanAccuracy {
 public:
  /// As of `accuracy_percents`.
  void add(const torch::Tensor& scores, const torch::Tensor& labels);
  /// Both percentages become numbers of the step, if any were added.
  void observe(steps::Trainer& trainer) const;

 private:
  torch::Tensor percents_;  // (2), summed
  int count_ = 0;
};

}  // namespace bench::vision
