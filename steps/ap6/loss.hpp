#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>

namespace bench::ap6 {

/// Divides the scores before their softmax.
inline constexpr double temperature = 0.1;

/// The label of a sample whose cluster is unknown. It does not count.
inline constexpr std::int64_t no_label = -1;

/// Cross-entropy of the clusters of crops: the mean over heads and crops, and over the samples that
/// have a label. 0 if none has one.
///
/// The scores of a crop are its cosines with the prototypes. A sample has a label in all heads or
/// in none.
/// @param features (B, C, 128), of length 1
/// @param prototypes (heads, clusters, 128), of length 1
/// @param labels (heads, B) int64
torch::Tensor cluster_loss(const torch::Tensor& features, const torch::Tensor& prototypes,
                           const torch::Tensor& labels);

}  // namespace bench::ap6
