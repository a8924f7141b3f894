#pragma once

#include "harness/torch_all.hpp"
#include "transformer/layers.hpp"
#include "transformer/tensor_parallel.hpp"

#include <cstdint>
#include <string>
#include <utility>
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

/// Implementation of causal attention.
enum class AttentionKind {
  fused,  ///< LibTorch 2's scaled_dot_product_attention; on a GPU a flash kernel.
  plain,  ///< Keeps all weights for the backward pass: (B, heads, S, S).
};

/// Returns the kind of this name; for `auto` fused if this LibTorch has it, otherwise plain.
/// @throws steps::UsageError if the name is unknown
AttentionKind parse_attention(const std::string& name);
std::string attention_name(AttentionKind kind);

/// @throws steps::UsageError if this LibTorch does not have the kind
void check_attention(AttentionKind kind);

/// softmax(Q K^T / sqrt(D) under the causal mask) V. With fewer key/value heads than query heads,
/// query head j uses key/value head j / (heads / key_value_heads): Ainslie et al., GQA
/// (arXiv:2305.13245).
///
/// The queries belong to the last S of the tokens: to all of them, unless keys and values of
/// earlier ones come from a cache.
/// @param q (B, heads, S, D)
/// @param k, v (B, key_value_heads, tokens, D), tokens at least S
/// @param dropout of the weights
/// @returns (B, heads, S, D)
torch::Tensor causal_attention(AttentionKind kind, const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, double dropout);

struct SelfAttentionOptions {
  AttentionKind kind = AttentionKind::plain;
  double dropout = 0;  ///< Of the weights, in training.
  double deviation = 0;
  double projection_deviation = 0;
  bool bias = true;
};

/// Causal self-attention: (B, S/T, hidden) -> (B, S/T, hidden). The T tensor-parallel ranks split
/// the key/value heads, each with its group of query heads.
class SelfAttentionImpl : public torch::nn::Module {
 public:
  /// @param number of the first of two weight matrices in the model, for `WeightInit`
  SelfAttentionImpl(const WeightInit& init, std::uint64_t number, const DecoderSizes& sizes,
                    const SelfAttentionOptions& options);

  /// @param rotary null if queries and keys are not rotated
  /// @param cache of the tokens before these, to which it adds these; null: there are none. Of the
  ///        key/value heads of this rank, which has all tokens.
  torch::Tensor forward(const torch::Tensor& x, const Rotary* rotary, LayerCache* cache = nullptr);

  /// Parameters that every tensor-parallel rank holds whole.
  std::vector<torch::Tensor> whole_parameters() const { return projection_->whole_parameters(); }

 private:
  SelfAttentionOptions options_;
  std::int64_t heads_per_group_;
  std::int64_t head_size_;
  ColumnLinear queries_keys_values_;  // columns by group: its queries, its key, its value
  RowLinear projection_;
};
TORCH_MODULE(SelfAttention);

/// The share of a model that a rank holds.
struct Shard {
  TensorRanks tensor;      ///< Ranks that split the matrices.
  std::int64_t stage = 0;  ///< Of the pipeline; each has an equal share of the layers.
  std::int64_t stages = 1;

  bool is_first() const { return stage == 0; }
  bool is_last() const { return stage == stages - 1; }
};

/// A decoder-only language model, or a shard of it, as training and inference see it.
class LanguageModel : public torch::nn::Module {
 public:
  /// With T tensor-parallel ranks and a vocabulary of V:
  /// @param input tokens (B, S) int64 in the first stage, otherwise the output of the previous one
  /// @returns (B, S/T, hidden); in the last stage the scores of each next token, (B, S, V/T)
  virtual torch::Tensor forward(const torch::Tensor& input) = 0;

  /// Runs tokens that follow those in a cache, and adds their keys and values to it. For a model of
  /// one stage, whose tensor-parallel ranks have all tokens.
  /// @param tokens (B, S) int64, the same on these ranks
  /// @param cache of the key/value heads of this rank
  /// @returns the scores of the token after the last, (B, V/T)
  virtual torch::Tensor next_scores(const torch::Tensor& tokens, KeyValueCache& cache) = 0;

  /// Parameters that every tensor-parallel rank holds whole. The backward pass leaves the gradient
  /// of the rank's slice of the sequence in them; the full gradient is the sum over the ranks.
  const std::vector<torch::Tensor>& whole_parameters() const { return whole_parameters_; }

  /// An embedding that is also the output matrix, (V/T, hidden), in the first and the last stage.
  /// Its gradient is the sum over both. Undefined in other stages, and if the two are not tied.
  const torch::Tensor& tied_embedding() const { return tied_embedding_; }

 protected:
  void add_whole_parameters(const std::vector<torch::Tensor>& parameters) {
    whole_parameters_.insert(whole_parameters_.end(), parameters.begin(), parameters.end());
  }
  void set_tied_embedding(torch::Tensor embedding) { tied_embedding_ = std::move(embedding); }

 private:
  std::vector<torch::Tensor> whole_parameters_;
  torch::Tensor tied_embedding_;
};

}  // namespace bench::transformer
