#pragma once

#include "harness/torch_all.hpp"

#include <functional>

namespace bench::gpt {

/// `work(x)`, of which nothing is kept for the backward pass but x: that computes it again, with
/// the same random numbers. Chen et al., Training Deep Nets with Sublinear Memory Cost
/// (arXiv:1604.06174).
/// @param work may use parameters; their gradients come as usual
torch::Tensor recomputed(const std::function<torch::Tensor(const torch::Tensor&)>& work,
                         const torch::Tensor& x);

}  // namespace bench::gpt
