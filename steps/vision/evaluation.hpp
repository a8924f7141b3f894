#pragma once

#include "harness/batches.hpp"
#include "harness/torch_all.hpp"
#include "harness/trainer.hpp"
#include "vision/architecture.hpp"
#include "vision/data.hpp"
#include "vision/network/model.hpp"
#include "vision/options.hpp"

#include <cstdint>

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

/// The model on its device, its weights in the order of memory that suits it.
Network build_model(const Options& options, const Architecture& architecture,
                    const torch::Device& device);

struct Scored {
  torch::Tensor loss;    ///< Mean cross-entropy.
  torch::Tensor scores;  ///< (B, classes), fp32.
};

/// @param batch `image` (B, 3, S, S) and `label` (B)
Scored score(Network& model, const steps::Batch& batch, double label_smoothing);

/// Passes images of the validation part through the model, in evaluation mode, and prints loss and
/// accuracy.
/// @param epoch from 1, for `--mllog`
/// @returns false if a signal asked a rank to end meanwhile
bool evaluate(const Options& options, const Dataset& dataset, Network& model,
              const steps::Trainer& trainer, std::int64_t epoch);

}  // namespace bench::vision
