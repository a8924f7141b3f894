#pragma once

#include "harness/torch_all.hpp"
#include "transformer/tensor_ranks.hpp"

namespace bench::transformer {

// Operations of T tensor-parallel ranks. Matrices are split as in Shoeybi et al., Megatron-LM
// (arXiv:1909.08053), section 3. Activations between them are split by tokens, as in Korthikanti et
// al. (arXiv:2205.05198), section 4.2.2: rank t holds the t-th slice (B, S/T, n). Of ranks that
// have all tokens each holds (B, S, n) instead.

/// Computes x W^T + b of the whole sequence, each rank for its rows of W. Keeps only the rank's
/// slice of x for the backward pass, which gathers the sequence again.
/// @param x (B, S/T, in)
/// @param weight (out/T, in)
/// @param bias (out/T), or none
/// @returns (B, S, out/T)
torch::Tensor column_parallel(const torch::Tensor& x, const torch::Tensor& weight,
                              const c10::optional<torch::Tensor>& bias, const TensorRanks& group);

/// Sums x over the ranks.
/// @param x (B, S, n)
/// @returns the rank's slice of the sequence, (B, S/T, n)
torch::Tensor sum_of_ranks(const torch::Tensor& x, const TensorRanks& group);

}  // namespace bench::transformer
