#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>

namespace bench::gpt {

/// Tokens drawn uniformly, so that the loss begins and stays near the logarithm of their kinds.
/// What a sample holds depends on the seed and its number alone, not on which rank asks for it.
class SyntheticTokens {
 public:
  /// @param kinds tokens are 0 <= token < kinds
  /// @param sequence tokens that the model sees; a sample has one more, to predict
  SyntheticTokens(std::uint64_t seed, std::int64_t kinds, std::int64_t sequence)
      : seed_(seed), kinds_(kinds), sequence_(sequence) {}

  /// @returns int64 (count, sequence + 1), the samples from `first` on
  torch::Tensor samples(std::int64_t first, std::int64_t count, const torch::Device& device) const;

 private:
  std::uint64_t seed_;
  std::int64_t kinds_;
  std::int64_t sequence_;
};

}  // namespace bench::gpt
