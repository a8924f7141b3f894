#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>

namespace bench::transformer {

/// True if a sequence is one block, whose weights are kept for the backward pass.
bool is_one_block(std::int64_t sequence);

/// Causal attention over blocks of queries, without the masked keys behind a block. The backward
/// pass computes the weights again, as in Dao et al., FlashAttention (arXiv:2205.14135), section
/// 3.1.
/// @param q (B, heads, S, D)
/// @param k, v (B, key_value_heads, S, D)
/// @returns (B, heads, S, D)
torch::Tensor blocked_attention(const torch::Tensor& q, const torch::Tensor& k,
                                const torch::Tensor& v);

}  // namespace bench::transformer
