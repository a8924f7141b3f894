#pragma once

#include "harness/torch_all.hpp"

namespace bench::deepcam {

/// Weights of the classes: their frequencies in the training data to the power of -1/8, (3).
/// Source: MLPerf HPC's reference implementation, github.com/mlcommons/hpc, deepcam/train.py.
torch::Tensor class_weights(const torch::TensorOptions& options);

/// Mean over the grid points of the weighted cross entropy of each sample: (B). The loss is the
/// mean over the samples: it is not divided by the sum of the weights.
/// @param scores (B, 3, H, W), converted to the precision of the weights
/// @param labels int64 (B, H, W)
torch::Tensor cross_entropies(const torch::Tensor& scores, const torch::Tensor& labels,
                              const torch::Tensor& weights);

/// Intersection over union of each sample, the mean over the classes: (B), fp64. A class that is
/// neither in the labels nor predicted counts 1. The mean over a validation part is MLPerf HPC's
/// `eval_accuracy`.
/// @param scores (B, 3, H, W); the class with the highest is predicted
/// @param labels int64 (B, H, W)
torch::Tensor intersections_over_unions(const torch::Tensor& scores, const torch::Tensor& labels);

}  // namespace bench::deepcam
