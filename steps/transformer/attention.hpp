#pragma once

#include "harness/torch_all.hpp"

#include <string>

namespace bench::transformer {

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

}  // namespace bench::transformer
