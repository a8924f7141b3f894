#pragma once

#include "harness/torch_all.hpp"
#include "transformer/key_value_cache.hpp"
#include "transformer/language_model.hpp"
#include "transformer/tensor_ranks.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace bench::transformer {

/// Generates the most likely tokens (greedy), for a batch of prompts of equal length.
///
/// Each token is brought to the host as soon as it is known, as one that answers a user is.
class Generation {
 public:
  /// @param cache with room for the prompt and all new tokens but the last
  /// @param ranks those that split the model; they have all tokens
  Generation(std::shared_ptr<LanguageModel> model, KeyValueCache cache,
             const TensorRanks& ranks = {});

  /// Runs prompts, and forgets those before.
  /// @param prompts (B, S) int64 on the device
  /// @returns the first new tokens, (B) on the host
  torch::Tensor prefill(const torch::Tensor& prompts);

  /// Generates the tokens that follow the first ones. May be repeated: it always begins behind the
  /// prompt.
  /// @param latencies_s gets the time of each of them, in seconds
  /// @returns (B, count) on the host
  torch::Tensor decode(std::int64_t count, std::vector<double>& latencies_s);

  std::int64_t cache_bytes() const { return cache_.bytes(); }
  /// Whether all scores of the last token that this rank has are finite; true before the first.
  bool has_finite_scores() const;

 private:
  /// (B, S) -> (B, 1).
  torch::Tensor next_tokens(const torch::Tensor& tokens);

  std::shared_ptr<LanguageModel> model_;
  KeyValueCache cache_;
  TensorRanks ranks_;
  std::int64_t prompt_tokens_ = 0;
  torch::Tensor first_tokens_;  // (B, 1)
  torch::Tensor scores_;        // (B, V/T), of the last token
};

}  // namespace bench::transformer
