#pragma once

#include "harness/communicator.hpp"
#include "harness/torch_all.hpp"
#include "transformer/tensor_ranks.hpp"

namespace bench::transformer {

// Embedding and loss of T ranks that split the vocabulary: rank t holds the t-th V/T tokens.
// Shoeybi et al., Megatron-LM (arXiv:1909.08053), section 3.

/// Looks up rows of the embedding.
/// @param tokens (B, S) int64, below V
/// @param table (V/T, n)
/// @returns (B, S/T, n), or (B, S, n) if the ranks have all tokens
torch::Tensor vocab_parallel_embedding(const torch::Tensor& tokens, const torch::Tensor& table,
                                       const TensorRanks& group);

/// The tokens with the highest scores, the same on all ranks: (B, V/T) -> (B, 1) int64.
torch::Tensor most_likely_tokens(const torch::Tensor& scores, const steps::Communicator& group);

/// Mean cross-entropy of the next tokens in fp32, the same on all ranks. Besides the scores it
/// keeps one copy of them in fp32, which becomes their gradient; LibTorch's cross-entropy keeps
/// three.
/// @param scores (B, S, V/T)
/// @param tokens (B, S + 1) int64: the inputs, and the token that follows them
torch::Tensor next_token_loss(const torch::Tensor& scores, const torch::Tensor& tokens,
                              const steps::Communicator& group = {});

}  // namespace bench::transformer
