#pragma once

#include "harness/checkpoints.hpp"
#include "harness/communicator.hpp"
#include "harness/session.hpp"
#include "harness/torch_all.hpp"
#include "transformer/decoder_sizes.hpp"
#include "transformer/grid.hpp"
#include "transformer/language_model.hpp"
#include "transformer/report.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace bench::transformer {

/// What the training of a language model has to know of its program.
struct LanguageTask {
  DecoderSizes sizes;
  std::int64_t kinds = 0;  ///< Tokens of the vocabulary without its padding.
  /// Makes this rank's shard of the network.
  std::function<std::shared_ptr<LanguageModel>(const torch::TensorOptions& tensors, Grid& grid)>
      make_model;
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
