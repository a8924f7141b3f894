#pragma once

#include "gpt/data.hpp"
#include "gpt/model.hpp"
#include "gpt/options.hpp"
#include "harness/adamw.hpp"
#include "harness/flat_parameters.hpp"
#include "harness/loss_scale.hpp"
#include "harness/timers.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace bench::gpt {

/// What one iteration came to.
struct Iteration {
  double loss = 0;  ///< Mean over the global batch.
  double learning_rate = 0;
  double loss_scale = 1;     ///< That it was computed with.
  double gradient_norm = 0;  ///< Of all gradients, before they are clipped.
  bool skipped = false;      ///< A gradient was not finite, and the scale will be smaller.
  bool diverged = false;     ///< Loss or gradients are not finite, and nothing will change that.
};

/// A model in training: its weights, the optimizer, and how far it has come.
class Training {
 public:
  Training(const Options& options, const torch::Device& device);

  /// One step over the global batch. Waits for the device once, for the norm of the gradients.
  Iteration iterate(steps::Timers& timers);

  std::int64_t consumed_samples() const { return consumed_samples_; }
  const TokenSource& data() const { return *data_; }
  Gpt& model() { return model_; }

 private:
  torch::Tensor forward_backward(steps::Timers& timers);
  Iteration update(double loss);

  Options options_;
  torch::Device device_;
  std::unique_ptr<TokenSource> data_;
  Gpt model_;
  steps::FlatParameters parameters_;
  steps::AdamW optimizer_;
  std::optional<steps::DynamicLossScale> loss_scale_;  ///< In fp16.
  std::int64_t consumed_samples_ = 0;
};

}  // namespace bench::gpt
