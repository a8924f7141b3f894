#pragma once

#include "harness/communicator.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>

namespace bench::gpt {

// What T tensor-parallel ranks do together. Matrices are split among them as in Shoeybi et al.,
// Megatron-LM (arXiv:1909.08053), section 3; what lies between the matrices is split along the
// sequence as in Korthikanti et al. (arXiv:2205.05198), section 4.2.2: (B, S/T, n), of which rank t
// has the t-th part. For one rank alone all of it is what LibTorch has.

/// x W^T + b for the whole sequence, of which each rank has some columns. Keeps its part of x alone
/// for the backward pass, which gathers it again.
/// @param x (B, S/T, in)
/// @param weight (out/T, in)
/// @param bias (out/T), or none
/// @returns (B, S, out/T)
torch::Tensor column_parallel(const torch::Tensor& x, const torch::Tensor& weight,
                              const c10::optional<torch::Tensor>& bias,
                              const steps::Communicator& group);

/// The sum over the ranks, each with its part of the sequence.
/// @param x (B, S, n)
/// @returns (B, S/T, n)
torch::Tensor sum_and_split(const torch::Tensor& x, const steps::Communicator& group);

/// The rows of a table that is split by rows.
/// @param tokens (B, S) int64, below T times the rows
/// @param table (rows, n)
/// @returns (B, S/T, n)
torch::Tensor split_embedding(const torch::Tensor& tokens, const torch::Tensor& table,
                              const steps::Communicator& group);

/// Mean cross-entropy in fp32, the same on all ranks. With its gradient it holds the scores twice.
/// @param scores (B, S, V/T)
/// @param targets (B, S) int64, below V
torch::Tensor split_cross_entropy(const torch::Tensor& scores, const torch::Tensor& targets,
                                  const steps::Communicator& group);

}  // namespace bench::gpt
