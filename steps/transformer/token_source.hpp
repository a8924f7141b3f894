#pragma once

#include "data/token_dataset.hpp"
#include "data/token_samples.hpp"
#include "harness/torch_all.hpp"
#include "transformer/decoder_sizes.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace bench::transformer {

/// The tokens of a run.
struct Dataset {
  std::string name;
  std::uint64_t tokens = 0;   ///< Of one epoch; 0: without end.
  std::uint64_t samples = 0;  ///< Of one epoch; 0: without end.

  /// Prints `dataset=`, and of one that has an end `dataset_tokens=` and `dataset_samples=`.
  void log() const;
};

/// Where a training loop has its tokens from. What a sample holds depends on its number alone, not
/// on which rank asks for it.
class TokenSource {
 public:
  TokenSource() = default;
  TokenSource(const TokenSource&) = delete;
  TokenSource& operator=(const TokenSource&) = delete;
  virtual ~TokenSource() = default;

  /// @param first number of the first sample, from 0 without end
  /// @returns int64 (count, sequence + 1), the samples from `first` on
  virtual torch::Tensor samples(std::int64_t first, std::int64_t count,
                                const torch::Device& device) = 0;

  virtual Dataset dataset() const = 0;
};

/// What `--data-path` names, or synthetic tokens where it is empty.
/// @param kinds tokens of the vocabulary without its padding
std::unique_ptr<TokenSource> make_token_source(const TrainingOptions& options,
                                               const DecoderSizes& sizes, std::int64_t kinds);

/// Tokens drawn uniformly, so that the loss begins and stays near the logarithm of their kinds.
class SyntheticTokens : public TokenSource {
 public:
  /// @param kinds tokens are 0 <= token < kinds
  /// @param sequence tokens that the model sees; a sample has one more, to predict
  SyntheticTokens(std::uint64_t seed, std::int64_t kinds, std::int64_t sequence)
      : seed_(seed), kinds_(kinds), sequence_(sequence) {}

  torch::Tensor samples(std::int64_t first, std::int64_t count,
                        const torch::Device& device) override;
  Dataset dataset() const override { return {.name = "synthetic"}; }

 private:
  std::uint64_t seed_;
  std::int64_t kinds_;
  std::int64_t sequence_;
};

/// The training part of a corpus, epoch after epoch (data/token_samples.hpp).
class CorpusTokens : public TokenSource {
 public:
  /// @param documents weights of training, validation and test (data/token_split.hpp)
  /// @throws steps::UsageError, steps::DataError if the corpus cannot be used
  CorpusTokens(const std::string& prefix, const std::string& documents,
               const steps::TokenSamples::Options& options);

  /// @throws steps::DataError if a token is not in the vocabulary
  torch::Tensor samples(std::int64_t first, std::int64_t count,
                        const torch::Device& device) override;
  Dataset dataset() const override;

 private:
  std::string prefix_;
  std::int64_t sequence_;
  steps::TokenDataset corpus_;
  steps::TokenSamples samples_;
};

}  // namespace bench::transformer
