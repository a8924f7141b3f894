#pragma once

#include "harness/communicator.hpp"
#include "harness/data_parallel.hpp"
#include "harness/device.hpp"
#include "harness/flat_parameters.hpp"
#include "harness/optimizer.hpp"
#include "harness/precision.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/saved_state.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench::steps {

/// Where a model is trained.
struct TrainingContext {
  Communicator& ranks;  ///< All of them. Must outlive what uses it.
  torch::Device device;
  Precision precision = Precision::fp32;
  std::uint64_t seed = 1;
};

/// How ranks share one copy of a model. By default each rank has a whole copy.
struct ModelParallelism {
  Communicator* data = nullptr;  ///< The ranks with the same parameters; null: all ranks.
  /// Parameters that another rank of this copy has, too, and counts in norms.
  std::vector<torch::Tensor> copies = {};
  /// Adds to the gradients of this rank's micro-batches those that other ranks of the same copy
  /// have for the same parameters.
  std::function<void(const FlatParameters&)> complete_gradients = {};
  /// Of the parameters of which this rank has a part, by name.
  std::map<std::string, Split> splits = {};
  int ranks_with_loss = 0;  ///< Ranks that pass the loss to `backward`; 0: all.
};

/// The learning rate of a schedule.
/// @param unit samples in a unit of the schedule's progress: those of an epoch, for example
std::function<double(std::int64_t samples)> rate_of(const RateSchedule& schedule, double unit = 1);

/// How a model is trained.
struct TrainerOptions {
  MakeOptimizer optimizer;
  /// Learning rate after so many samples.
  std::function<double(std::int64_t samples)> learning_rate;
  std::int64_t global_batch = 1;      ///< Samples of a step on all ranks.
  std::int64_t micro_batches = 1;     ///< Backward passes of a step on this rank.
  double clip_gradient = 0;           ///< Largest norm of the mean gradient; 0: any.
  bool report_gradient_norm = false;  ///< In results, also where nothing else needs it.
  bool shard_optimizer = false;       ///< ZeRO-1, see `ShardedOptimizer`.
  bool cuda_graph = false;            ///< The loop records a step, and replays it.
  /// Of fp16: adapts the scale to the gradients. Without, fp16 has the constant scale of
  /// `loss_scale`.
  std::optional<DynamicLossScale::Options> dynamic_loss_scale = {};
  ModelParallelism parallelism = {};
};

/// Results of one step, the same on all ranks.
struct StepResult {
  double loss = 0;                           ///< Mean over the global batch.
  double learning_rate = 0;                  ///< After the step, for the next one.
  double loss_scale = 1;                     ///< Of this step.
  std::optional<double> gradient_norm = {};  ///< Before clipping; only where something needs it.
  bool skipped = false;       ///< A gradient was not finite, and the loss scale will be smaller.
  bool diverged = false;      ///< Loss or gradients are not finite, and nothing will change that.
  bool interrupted = false;   ///< A signal asked one of the ranks to end.
  bool time_is_over = false;  ///< The time limit of one of the ranks.
  std::vector<double> observed = {};  ///< Means over the ranks of the numbers given to `observe`.

  bool operator==(const StepResult&) const = default;
};

/// Trains one model: holds its parameters in one row, collects and reduces the gradients of its
/// backward passes, and updates it. Data-parallel ranks train copies of it.
///
///     Trainer trainer(context, *model, options);
///     for (...) {
///       {
///         const Autocast autocast = trainer.autocast();
///         loss = loss_of(model->forward(x), y);
///       }
///       trainer.backward(loss);
///       trainer.wait_for_gradients();
///       trainer.update_weights();
///       trainer.end_step();
///       if (const auto result = trainer.newest_result()) ...
///     }
///
/// Where the norm of the gradients is needed (clipping, dynamic loss scale), a step waits once for
/// the device. Otherwise it never does, and on a GPU its results are known two steps later.
class Trainer {
 public:
  /// Broadcasts parameters and buffers from rank 0, then seeds each rank's random numbers
  /// differently. The optimizer keeps references to the parameters' memory: a model may not be
  /// moved or cast afterwards.
  Trainer(const TrainingContext& context, const torch::nn::Module& model, TrainerOptions options);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  Autocast autocast() const { return {context_.device, context_.precision}; }

  /// Backward pass of a micro-batch.
  /// @param loss scalar, the mean over the micro-batch
  void backward(const torch::Tensor& loss);
  /// Backward pass of a pipeline stage that is not the last.
  /// @param output of the stage's forward pass
  /// @param gradient of the loss with respect to it
  void backward(const torch::Tensor& output, const torch::Tensor& gradient);

  /// Has a number of this step averaged over the ranks and reported in `StepResult::observed`. The
  /// same numbers in the same order in each step.
  /// @param number scalar on the device
  void observe(const torch::Tensor& number);

  /// Returns when the gradients are summed over the ranks; on a GPU its stream waits, not the host.
  /// @param time_is_over this rank's time limit has come
  void wait_for_gradients(bool time_is_over = false);

  /// Updates the weights, unless a gradient is not finite. May be recorded in a CUDA graph if
  /// nothing needs the norm of the gradients and the learning rate is constant; `end_step` may not.
  void update_weights();
  /// Counts the step.
  void end_step();

  /// Result of the newest step that is known and was not returned before.
  std::optional<StepResult> newest_result();
  /// Result of the oldest step that is not known yet, for which it waits; nothing if all are known.
  std::optional<StepResult> await_result();

  std::int64_t steps() const { return steps_; }  ///< Since the very beginning, over checkpoints.
  std::int64_t samples() const { return samples_; }
  const TrainingContext& context() const { return context_; }
  /// What records the steps, if they are to be recorded.
  GraphMaker* graphs() const { return graphs_.get(); }

  /// Everything that this rank needs to continue with the next step.
  SavedState state() const;
  /// @param own saved by this rank, or `rearranged` for it: random numbers then start over
  /// @param weights saved by the rank `weights_rank()`, or `rearranged` as well
  void restore(const SavedState& own, const SavedState& weights);
  /// The rank, among all, that saves the weights of this rank: itself, unless all ranks of a data
  /// group have all of them.
  int weights_rank() const;
  /// Of the rows in `state`.
  const RowLayout& row_layout() const { return row_layout_; }

 private:
  Communicator& data() const;
  double loss_scale() const;
  bool needs_norm() const;
  template <typename Pass>
  void run_pass(const Pass& pass);
  StepResult result_of(StepResult result, const std::vector<double>& numbers) const;

  TrainingContext context_;
  TrainerOptions options_;
  /// Before the reducer: LibTorch adds up gradients on the stream that was current when it was
  /// told where to, and a step can be recorded only if all of it is on one stream.
  std::unique_ptr<GraphMaker> graphs_;
  FlatParameters parameters_;
  GradientReducer reducer_;
  ShardedOptimizer optimizer_;
  std::optional<DynamicLossScale> dynamic_scale_;
  torch::Tensor loss_sum_;               ///< Over the micro-batches of this rank.
  std::vector<torch::Tensor> observed_;  ///< Of this step.
  torch::Tensor numbers_;  ///< (3 + observed): sums of loss, interrupted, time over, ...
  StepResult current_;     ///< Of this step, as far as the host knows it.
  std::optional<std::vector<double>> known_;  ///< The numbers of this step.
  std::int64_t pass_ = 0;                     ///< Backward passes of this step so far.
  RowLayout row_layout_;
  LaggedNumbers lagged_;
  std::deque<StepResult> under_way_;  ///< Of the steps whose numbers are not known.
  std::optional<StepResult> newest_;
  std::int64_t steps_ = 0;
  std::int64_t samples_ = 0;
  std::int64_t scheduled_samples_ = 0;  ///< Those of skipped steps left out.
};

/// While this object lives, forward passes record no gradients for the parameters of a module. What
/// feeds it still gets its own: a generator learns from a critic that does not learn from it.
class FrozenParameters {
 public:
  explicit FrozenParameters(const torch::nn::Module& module) {
    for (const torch::Tensor& parameter : module.parameters())
      if (parameter.requires_grad())
        parameters_.push_back(parameter.set_requires_grad(false));
  }
  FrozenParameters(const FrozenParameters&) = delete;
  FrozenParameters& operator=(const FrozenParameters&) = delete;
  ~FrozenParameters() {
    for (const torch::Tensor& parameter : parameters_)
      parameter.set_requires_grad(true);
  }

 private:
  std::vector<torch::Tensor> parameters_;
};

}  // namespace bench::steps
