#pragma once

#include "gpt/data.hpp"
#include "gpt/model.hpp"
#include "gpt/options.hpp"
#include "harness/communicator.hpp"
#include "harness/flat_parameters.hpp"
#include "harness/loss_scale.hpp"
#include "harness/saved_state.hpp"
#include "harness/sharded_adamw.hpp"
#include "harness/timers.hpp"
#include "transformer/grid.hpp"
#include "transformer/pipeline.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace bench::gpt {

/// What one iteration came to.
struct Iteration {
  double loss = 0;           ///< Mean over the global batch.
  double learning_rate = 0;  ///< Behind it, of the next one, as Megatron-LM logs it.
  double loss_scale = 1;     ///< That it was computed with.
  double gradient_norm = 0;  ///< Of all gradients, before they are clipped.
  bool skipped = false;      ///< A gradient was not finite, and the scale will be smaller.
  bool diverged = false;     ///< Loss or gradients are not finite, and nothing will change that.
  bool interrupted = false;  ///< A signal asked one of the ranks to end, see interruption.hpp.
};

/// A model in training: its weights, the optimizer, and how far it has come. Ranks train copies of
/// one model, each with its part of every global batch, and may share each copy.
class Training {
 public:
  /// @param communicator of all ranks; must outlive this object
  Training(const Options& options, const torch::Device& device, steps::Communicator& communicator);
  Training(const Training&) = delete;  // the optimizer refers to the parameters
  Training& operator=(const Training&) = delete;

  /// One step over the global batch, the same on all ranks. Waits for the device for the loss, and
  /// for the norm of the gradients.
  Iteration iterate(steps::Timers& timers);

  /// Whether it holds on one of the ranks: they end together.
  bool any_rank(bool holds);

  /// What this rank needs to go on with the next iteration.
  steps::SavedState state() const;
  /// @param own what this rank saved
  /// @param weights what the rank saved whose number is `weights_rank()`
  void restore(const steps::SavedState& own, const steps::SavedState& weights);
  /// The rank that saves the weights that this one has; itself, unless all have all of them.
  int weights_rank() const;

  std::int64_t iterations() const { return iterations_; }  ///< Since the very begin.
  std::int64_t consumed_samples() const { return consumed_samples_; }
  const TokenSource& data() const { return *data_; }

 private:
  torch::Tensor forward_backward(steps::Timers& timers);
  torch::Tensor forward(std::int64_t micro_batch, const torch::Tensor& input, torch::Tensor& losses,
                        steps::Timers& timers);
  void complete_gradients();
  Iteration update(double loss);
  std::int64_t first_sample() const;
  double scale_of_loss() const;

  Options options_;
  torch::Device device_;
  transformer::Grid grid_;
  std::unique_ptr<TokenSource> data_;
  Gpt model_;
  transformer::Pipeline pipeline_;
  steps::FlatParameters parameters_;
  steps::ShardedAdamW optimizer_;
  std::optional<steps::DynamicLossScale> loss_scale_;  ///< In fp16.
  std::int64_t iterations_ = 0;
  std::int64_t consumed_samples_ = 0;
  std::int64_t scheduled_samples_ = 0;  ///< Those of skipped iterations left out.
};

}  // namespace bench::gpt
