#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>
#include <string>

namespace bench::transformer {

/// Implementation of causal attention.
enum class AttentionKind {
  fused,    ///< LibTorch 2's scaled_dot_product_attention; on a GPU a flash kernel.
  blocked,  ///< Computes a block of queries at a time, for LibTorch 1.13.
  plain,    ///< Keeps all weights for the backward pass: (B, heads, S, S).
};

/// Returns the kind of this name; for `auto` the first that this LibTorch has and that supports the
/// dropout.
/// @param dropout of the weights; blocked attention supports none
/// @throws steps::UsageError if the name is unknown or the kind not available
AttentionKind parse_attention(const std::string& name, double dropout);
std::string attention_name(AttentionKind kind);

/// True if all weights, (B, heads, S, S) in fp32, are kept for the backward pass.
bool keeps_weights(AttentionKind kind, std::int64_t sequence);

/// softmax(Q K^T / sqrt(D) under the causal mask) V. With fewer key/value heads than query heads,
/// query head j uses key/value head j / (heads / key_value_heads): Ainslie et al., GQA
/// (arXiv:2305.13245).
/// @param q (B, heads, S, D)
/// @param k, v (B, key_value_heads, S, D)
/// @param dropout of the weights
/// @returns (B, heads, S, D)
torch::Tensor causal_attention(AttentionKind kind, const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, double dropout);

}  // namespace bench::transformer
