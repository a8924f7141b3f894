#pragma once

#include "data/token_dataset.hpp"
#include "harness/batches.hpp"
#include "harness/checkpoints.hpp"
#include "harness/communicator.hpp"
#include "harness/loop.hpp"
#include "harness/session.hpp"
#include "harness/torch_all.hpp"
#include "transformer/attention.hpp"
#include "transformer/grid.hpp"
#include "transformer/layers.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace bench::transformer {

/// What a line of the log tells of the iterations since the last one.
struct IterationLine {
  std::int64_t iteration = 0;
  std::int64_t iterations = 0;  ///< Of the whole run.
  std::int64_t consumed_samples = 0;
  double iteration_s = 0;  ///< Mean.
  double learning_rate = 0;
  std::int64_t global_batch = 0;
  std::optional<double> loss;  ///< Mean of those that changed the weights; empty without any.
  double loss_scale = 1;
  double gradient_norm = 0;  ///< Of the last one.
  std::int64_t skipped = 0;
  std::int64_t not_finite = 0;
  double samples_per_second = 0;
  double tflops = 0;           ///< Per device.
  double tflops_megatron = 0;  ///< By that of Megatron-LM.
};

/// The line as the Megatron-LM prints it that CARAML runs, with its newline, so that the patterns
/// for it fit.
std::string iteration_line(const IterationLine& line);

/// Operations of a training step per token, for the log.
struct TokenFlops {
  double of_step = 0;   ///< By the formula of the column `TFLOPs`.
  double megatron = 0;  ///< By that of Megatron-LM.
};

/// Prints a line for every `log_interval` measured iterations, as they become known.
class IterationLog : public steps::ProgressLog {
 public:
  /// Options and trainer must outlive this object.
  /// @param sequence tokens of a sample
  IterationLog(const TrainingOptions& options, const steps::Trainer& trainer, std::int64_t sequence,
               const TokenFlops& flops)
      : options_(options), trainer_(trainer), sequence_(sequence), flops_(flops) {}

  void begin() override;
  void add(const steps::LoggedStep& step) override;
  void paused(double seconds) override { clock_.skip(seconds); }
  void end(double epoch_s) override;

 private:
  void print();

  const TrainingOptions& options_;
  const steps::Trainer& trainer_;
  std::int64_t sequence_;
  TokenFlops flops_;
  std::int64_t iterations_ = 0;
  std::int64_t pending_ = 0;  ///< Iterations since the last line.
  std::int64_t skipped_ = 0;
  std::int64_t not_finite_ = 0;
  double loss_sum_ = 0;
  steps::StepResult last_;
  steps::StepClock clock_;
};

/// Costs of a language model, for `--describe`.
struct ModelCost {
  std::int64_t parameters = 0;
  std::int64_t embedding_parameters = 0;  ///< Of the table of tokens.
  std::int64_t forward_macs_per_sample = 0;
  std::int64_t sequence = 0;  ///< Tokens per sample.
};

/// Prints the lines `trainable_parameters=` to `sample_shape=`.
void log_cost(const ModelCost& cost);

/// Prints the options that decide the result, those of every language model.
void log_training(const TrainingOptions& options);

/// The lines of `--mllog` that say how is trained.
/// @param sequence tokens of a sample
void mllog_options(const TrainingOptions& options, std::int64_t sequence);

/// Prints the measured times, rates and losses, with `tflops_per_device` and MFU by the causal
/// formula.
/// @param flops_per_token of a training step, by that formula
/// @returns tokens per second of one device; 0 if nothing was measured
double report_measured(steps::Session& session, const steps::Loop& loop,
                       const TrainingOptions& options, std::int64_t sequence,
                       double flops_per_token);

/// The tokens of a run: the corpus of `--data-path`, or synthetic ones.
class TokenData {
 public:
  /// @param kinds tokens of the vocabulary without its padding
  /// @throws steps::UsageError, steps::DataError if the corpus cannot be used, or its validation
  ///         part if the options ask for evaluation
  TokenData(steps::Session& session, const TrainingOptions& options, const DecoderSizes& sizes,
            std::int64_t kinds);

  /// Prints `dataset`, of a corpus `dataset_tokens` and `dataset_samples`, `loader_threads` and
  /// `prefetch`.
  void log() const;

  /// Micro-batches of `tokens`, int64 (B, S + 1), for this rank's copy of the model. In a stage of
  /// a pipeline, as many stay valid as it keeps between forward and backward pass.
  /// @param first_sample of all copies, to go on from a checkpoint
  /// @returns null in stages that see no tokens: those between the first and the last
  std::unique_ptr<steps::Batches> training(const Grid& grid, std::int64_t first_sample) const;

  /// The same for evaluation, from the first sample of the validation part on; one batch is valid.
  /// Synthetic tokens are others than those of the training.
  std::unique_ptr<steps::Batches> validation(const Grid& grid) const;

  std::int64_t sequence() const { return sizes_.sequence; }  ///< S.
  /// Samples of an epoch; empty where there is no corpus.
  std::optional<std::uint64_t> training_samples() const { return samples_of(training_); }
  std::optional<std::uint64_t> validation_samples() const { return samples_of(validation_); }

 private:
  using Samples = std::shared_ptr<steps::TokenSamples>;

  static std::optional<std::uint64_t> samples_of(const Samples& samples);
  Samples open(steps::Part part) const;
  std::unique_ptr<steps::Batches> batches(const Grid& grid, const Samples& samples,
                                          std::uint64_t synthetic_seed,
                                          const steps::BatchOptions& options) const;

  TrainingOptions options_;
  DecoderSizes sizes_;
  std::int64_t kinds_;
  torch::Device device_;
  int threads_;
  Samples training_;    ///< Null without a corpus.
  Samples validation_;  ///< Null as well if nothing is evaluated.
};

/// Makes this rank's shard of a network, with its first weights.
using MakeModel =
    std::function<std::shared_ptr<LanguageModel>(const torch::TensorOptions& tensors, Grid& grid)>;

/// What the training of a language model has to know of its program.
struct LanguageTask {
  DecoderSizes sizes;
  std::int64_t kinds = 0;  ///< Tokens of the vocabulary without its padding.
  MakeModel make_model;
  /// Of the scores of the last stage, (B, S, V/T), and tokens (B, S + 1).
  std::function<torch::Tensor(const torch::Tensor& scores, const torch::Tensor& tokens,
                              const steps::Communicator& group)>
      loss_of;
  steps::CheckpointSettings settings;  ///< The name of the program, and its own lines.
  double causal_flops_per_token = 0;   ///< Of a training step, by the causal formula.
  TokenFlops logged_flops;
  /// Prints results of this program alone.
  /// @param tokens_per_second of one device; 0 if nothing was measured
  std::function<void(double tokens_per_second)> report;
};

/// Trains a language model over the ranks of the session, and prints the results.
/// @returns the exit code of the program
int train_language_model(steps::Session& session, TrainingOptions options,
                         const LanguageTask& task);

}  // namespace bench::transformer
