#pragma once

#include "harness/torch_all.hpp"
#include "transformer/decoder_sizes.hpp"

#include <cstdint>
#include <vector>

namespace bench::transformer {

/// Keys and values of attention, each (B, key_value_heads, tokens, D).
struct KeysAndValues {
  torch::Tensor keys;
  torch::Tensor values;
};

/// Keys and values of the tokens that one layer has seen.
class LayerCache {
 public:
  /// @param shape (B, key_value_heads, most tokens, D)
  LayerCache(torch::IntArrayRef shape, const torch::TensorOptions& tensors);

  std::int64_t length() const { return length_; }  ///< Tokens of each sequence.

  /// Adds the keys and values of the tokens that follow.
  /// @returns those of all tokens so far; they share the cache's memory
  /// @throws std::length_error if there is no room for them
  KeysAndValues append(const KeysAndValues& next);

  /// Forgets the tokens from `length` on.
  /// @throws std::length_error if there are fewer
  void truncate(std::int64_t length);

  std::int64_t bytes() const;  ///< Allocated.

 private:
  KeysAndValues all_;  // with room for the most tokens
  std::int64_t length_ = 0;
};

/// The keys and values of all layers, so that a token is computed once, when it comes: Pope et al.,
/// Efficiently Scaling Transformer Inference (arXiv:2211.05102), section 2.1.
class KeyValueCache {
 public:
  /// @param sizes with the key/value heads of this rank
  /// @param tokens the most that a sequence may have
  KeyValueCache(const DecoderSizes& sizes, std::int64_t batch, std::int64_t tokens,
                const torch::TensorOptions& tensors);

  LayerCache& layer(std::size_t number) { return layers_.at(number); }
  std::int64_t length() const { return layers_.front().length(); }
  void truncate(std::int64_t length);
  std::int64_t bytes() const;

 private:
  std::vector<LayerCache> layers_;
};

/// 2 L k B t b: keys and values of L layers, k the width of all key/value heads, for t tokens of B
/// sequences, b bytes each.
std::int64_t key_value_cache_bytes(const DecoderSizes& sizes, std::int64_t batch,
                                   std::int64_t tokens, std::int64_t bytes_per_number);

}  // namespace bench::transformer
