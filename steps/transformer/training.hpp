#pragma once

#include "data/token_dataset.hpp"
#include "harness/batches.hpp"
#include "harness/checkpoints.hpp"
#include "harness/communicator.hpp"
#include "harness/session.hpp"
#include "harness/torch_all.hpp"
#include "transformer/attention.hpp"
#include "transformer/grid.hpp"
#include "transformer/layers.hpp"
#include "transformer/report.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace bench::transformer {

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
