#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>

namespace bench::transformer {

/// Consecutive queries, and the keys that the causal mask leaves them: all up to the last query.
/// N groups of g query heads share a key/value head.
struct AttentionBlock {
  std::int64_t begin = 0;
  std::int64_t length = 0;

  std::int64_t end() const { return begin + length; }

  /// (N, g, S, D) -> (N, g * length, D): the queries of a group are rows of one matrix, so products
  /// with its keys and values need no copies of those.
  torch::Tensor queries(const torch::Tensor& x) const;
  /// (N, S, D) -> (N, end, D).
  torch::Tensor keys(const torch::Tensor& x) const { return x.narrow(1, 0, end()); }

  /// Softmax of the scores.
  /// @param q (N, g, S, D)
  /// @param k (N, S, D)
  /// @returns (N, g * length, end), fp32
  torch::Tensor weights(const torch::Tensor& q, const torch::Tensor& k) const;
};

/// Factor of the scores, 1 / sqrt(D).
double attention_scale(const torch::Tensor& q);

/// (B, heads, S, D) -> (N, g, S, D) for N = B * key_value_heads.
torch::Tensor grouped_queries(const torch::Tensor& q, std::int64_t key_value_heads);
/// (B, key_value_heads, S, D) -> (N, S, D).
torch::Tensor grouped_keys(const torch::Tensor& k);

}  // namespace bench::transformer
