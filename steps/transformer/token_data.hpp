#pragma once

#include "data/token_dataset.hpp"
#include "data/token_samples.hpp"
#include "harness/batches.hpp"
#include "harness/session.hpp"
#include "transformer/decoder_sizes.hpp"
#include "transformer/grid.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
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

}  // namespace bench::transformer
