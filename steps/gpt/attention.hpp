#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>
#include <string>

namespace bench::gpt {

/// How the attention of each token to the ones before it is computed.
enum class AttentionKind {
  fused,    ///< LibTorch's scaled_dot_product_attention, from 2.0 on: a flash kernel on a GPU.
  blocked,  ///< Our own: a block of queries at a time; the backward pass computes weights again.
  plain,    ///< All weights at once, kept for the backward pass: (B, heads, S, S).
};

/// `auto` is fused where LibTorch has it, else blocked, else (with dropout) plain.
/// @param dropout of the scores; blocked attention has none
/// @throws steps::UsageError if the name is none of these, or the kind is not available
AttentionKind parse_attention(const std::string& name, double dropout);
std::string attention_name(AttentionKind kind);

/// Whether the weights of all keys for all queries, (B, heads, S, S) in fp32, are kept for the
/// backward pass: by the plain kind, and by the blocked one where a block is all.
bool keeps_weights(AttentionKind kind, std::int64_t sequence);

/// softmax(Q K^T / sqrt(D) under the causal mask) V.
/// @param q, k, v (B, heads, S, D)
/// @returns (B, heads, S, D)
torch::Tensor causal_attention(AttentionKind kind, const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, double dropout);

/// Rotary positions: turns the pair (x_i, x_{i + D/2}) of the token at position s by the angle
/// s * 10000^(-2i/D). Source: Su et al. (arXiv:2104.09864), section 3.2, with the halves as pairs,
/// as in GPT-NeoX and Megatron-LM.
class Rotary {
 public:
  /// @param options format and device of what is turned
  Rotary(std::int64_t sequence, std::int64_t head_size, const torch::TensorOptions& options);

  /// @param x (B, S, heads, 2, D): queries and keys, S at most `sequence`
  torch::Tensor turn(const torch::Tensor& x) const;

 private:
  torch::Tensor cosine_;  // (S, 1, 1, D/2)
  torch::Tensor sine_;
};

}  // namespace bench::gpt
