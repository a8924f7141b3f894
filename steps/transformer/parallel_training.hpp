#pragma once

#include "harness/batches.hpp"
#include "harness/loop.hpp"
#include "harness/precision.hpp"
#include "harness/timers.hpp"
#include "harness/torch_all.hpp"
#include "harness/trainer.hpp"
#include "transformer/attention.hpp"
#include "transformer/grid.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace bench::transformer {

/// Runs the forward and backward passes of one pipeline stage (1F1B).
///
/// A stage begins with as many forward passes as stages follow it, then alternates one forward and
/// one backward pass. So it keeps activations of at most `stages` micro-batches. Narayanan et al.
/// (arXiv:2104.04473), section 2.2.1. A single stage waits for nobody.
class Pipeline {
 public:
  /// The forward pass of the next micro-batch.
  /// @param input output of the previous stage; undefined in the first
  /// @returns the input of the next stage; in the last stage the loss, or what else is wanted
  using Forward = std::function<torch::Tensor(const torch::Tensor& input)>;

  struct Passes {
    Forward forward;
    /// @param output what `forward` returned
    /// @param gradient of `output`; undefined in the last stage
    std::function<void(const torch::Tensor& output, const torch::Tensor& gradient)> backward;
  };

  /// @param grid must outlive this object
  /// @param shape of the tensors between stages, the same for all micro-batches
  Pipeline(Grid& grid, std::vector<std::int64_t> shape, const torch::TensorOptions& tensors);

  /// Runs all passes of an iteration. Waiting for other stages is timed as `comm`.
  void run(std::int64_t micro_batches, const Passes& passes, steps::Timers& timers);

  /// Runs one forward pass alone, of the first micro-batch or of one that the stages before this
  /// one have done. Without gradients; returns what `forward` returned.
  torch::Tensor run_forward(const Forward& forward, steps::Timers& timers);

 private:
  /// A micro-batch between its two passes.
  struct InFlight {
    torch::Tensor input;  ///< Undefined in the first stage.
    torch::Tensor output;
  };

  /// Input and output of a pass.
  InFlight pass_forward(const Forward& forward, bool needs_gradient, steps::Timers& timers);
  void backward(const Passes& passes, steps::Timers& timers);
  torch::Tensor receive(steps::Communicator& channel, std::int64_t from, steps::Timers& timers);
  void send(steps::Communicator& channel, const torch::Tensor& tensor, std::int64_t to);

  Grid& grid_;
  std::vector<std::int64_t> shape_;
  torch::TensorOptions tensors_;
  std::deque<InFlight> in_flight_;
  std::deque<steps::Pending> sends_;
};

/// Format of a language model's parameters and of the activations between its stages. The optimizer
/// keeps fp32 weights beside half ones.
torch::ScalarType parameter_type(steps::Precision precision);

/// Format and device of those.
torch::TensorOptions model_tensors(const TrainingOptions& options, const torch::Device& device);

/// The share of a model that this rank holds.
Shard shard_of(Grid& grid);

/// AdamW over the ranks of a grid.
/// @param grid must outlive the trainer
steps::TrainerOptions trainer_options(const TrainingOptions& options,
                                      const std::shared_ptr<LanguageModel>& model, Grid& grid);

}  // namespace bench::transformer
