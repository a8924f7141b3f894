#pragma once

#include <cstdint>

namespace bench::transformer {

/// Sizes of a decoder-only language model.
struct DecoderSizes {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;           ///< Width of the residual stream.
  std::int64_t heads = 0;            ///< Of the queries; they share `hidden`.
  std::int64_t key_value_heads = 0;  ///< A divisor of `heads`.
  std::int64_t mlp = 0;              ///< Width inside the MLP.
  std::int64_t sequence = 0;         ///< Tokens per sample.
  std::int64_t vocabulary = 0;       ///< Rows of the embedding, padding included.

  std::int64_t head_size() const { return hidden / heads; }
  /// Query heads that share a key/value head.
  std::int64_t heads_per_group() const { return heads / key_value_heads; }
};

}  // namespace bench::transformer
