#pragma once

#include "harness/torch_all.hpp"

namespace bench::ap4 {

/// Continuous ranked probability score of normal distributions, in the unit of the error:
///
///     s (z erf(z / sqrt(2)) + 2 phi(z) - 1 / sqrt(pi)),  z = error / s
///
/// Source: Gneiting et al., Calibrated Probabilistic Forecasting Using Ensemble Model Output
/// Statistics and Minimum CRPS Estimation (Monthly Weather Review 133, 2005), eq. 5.
/// @param error predicted mean minus observation
/// @param deviation s, the predicted standard deviation, of the same shape; positive
/// @returns the scores, in that shape
torch::Tensor gaussian_crps(const torch::Tensor& error, const torch::Tensor& deviation);

/// Mean CRPS of the network's distributions: N(m + s a, (s exp(b))^2) with outputs a and b, and
/// mean m and standard deviation s of the ensemble.
/// @param output (B, 2, H, W)
/// @param scale (B, 2, H, W): m and s
/// @param target (B, 1, H, W), whose precision the loss has: fp32 also with autocast
torch::Tensor crps_loss(const torch::Tensor& output, const torch::Tensor& scale,
                        const torch::Tensor& target);

}  // namespace bench::ap4
