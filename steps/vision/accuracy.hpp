#pragma once

#include "harness/torch_all.hpp"

namespace bench::vision {

/// Percentages of images whose label has the highest score, and whose label is among the five
/// highest (all, where there are fewer classes): (2), fp32.
/// @param scores (B, classes)
/// @param labels (B), int64
torch::Tensor accuracy_percents(const torch::Tensor& scores, const torch::Tensor& labels);

}  // namespace bench::vision
