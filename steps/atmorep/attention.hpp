#pragma once

#include "atmorep/layers.hpp"
#include "harness/torch_all.hpp"
#include "transformer/norm.hpp"

#include <cstdint>
#include <vector>

namespace bench::atmorep {

/// Attention of one field's tokens to themselves, and by one head more for each other field to the
/// tokens of that field.
class CoupledAttentionImpl : public torch::nn::Module {
 public:
  /// @param field number of the own field
  CoupledAttentionImpl(const LayerOptions& options, std::int64_t field);
  /// @param tokens of all fields, normalised, (F, B, N, width)
  /// @returns what is added to the own tokens, (B, N, width)
  torch::Tensor forward(const torch::Tensor& tokens);

 private:
  std::int64_t field_;
  std::int64_t head_size_;
  double dropout_;
  Dense queries_keys_values_ = nullptr;
  Dense other_queries_ = nullptr;  // without other fields there is none
  std::vector<Dense> other_keys_values_;
  Dense output_ = nullptr;
};
TORCH_MODULE(CoupledAttention);

/// Attention of one field's tokens in the decoder: half of the heads attend to the tokens
/// themselves, the others to those that the encoder had.
class DecoderAttentionImpl : public torch::nn::Module {
 public:
  explicit DecoderAttentionImpl(const LayerOptions& options);
  /// @param x, encoded both normalised, (B, N, width)
  /// @returns what is added to x, (B, N, width)
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& encoded);

 private:
  std::int64_t head_size_;
  double dropout_;
  Dense queries_keys_values_ = nullptr;
  Dense other_queries_ = nullptr;
  Dense other_keys_values_ = nullptr;
  transformer::LayerNorm query_norm_;  // of all heads
  transformer::LayerNorm key_norm_;
  Dense output_ = nullptr;
};
TORCH_MODULE(DecoderAttention);

}  // namespace bench::atmorep
