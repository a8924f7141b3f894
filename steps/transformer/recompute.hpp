#pragma once

#include "harness/torch_all.hpp"

#include <functional>

namespace bench::transformer {

/// Returns `work(x)` and keeps only x for the backward pass, which computes `work(x)` again with
/// the same random numbers. Chen et al., Training Deep Nets with Sublinear Memory Cost
/// (arXiv:1604.06174).
/// @param work may use parameters; their gradients are accumulated as usual
torch::Tensor recomputed(const std::function<torch::Tensor(const torch::Tensor&)>& work,
                         const torch::Tensor& x);

}  // namespace bench::transformer
