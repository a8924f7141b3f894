#pragma once

#include "harness/torch_all.hpp"

namespace bench::transformer {

/// x W^T + b, as torch::linear, and faster for a single row in fp32 on a CPU, which a token of one
/// sequence is: BLAS first copies a matrix that it multiplies with a matrix, and reads it only once
/// if it multiplies it with a vector.
/// @param x (..., in)
/// @param weight (out, in)
/// @param bias (out), or none
torch::Tensor product(const torch::Tensor& x, const torch::Tensor& weight,
                      const c10::optional<torch::Tensor>& bias = {});

}  // namespace bench::transformer
