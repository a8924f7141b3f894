#pragma once

#include "harness/torch_all.hpp"
#include "transformer/attention.hpp"
#include "transformer/decoder_sizes.hpp"
#include "transformer/key_value_cache.hpp"
#include "transformer/linear.hpp"
#include "transformer/rotary.hpp"
#include "transformer/weight_init.hpp"

#include <cstdint>
#include <vector>

namespace bench::transformer {

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

}  // namespace bench::transformer
