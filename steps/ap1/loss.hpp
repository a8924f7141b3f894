#pragma once

#include "harness/torch_all.hpp"

namespace bench::ap1 {

/// Mean of the quantile scores (pinball losses) of the quantiles q = 0.1, 0.5 and 0.9:
/// mean of (q - 1{e < 0}) e, e = target - prediction.
/// Source: Koenker and Bassett, Regression Quantiles (Econometrica 46, 1978), eq. 2.3.
/// @param prediction (B, 3, P, P)
/// @param target (B, 1, P, P), whose precision the loss has: fp32 also with autocast
torch::Tensor quantile_loss(const torch::Tensor& prediction, const torch::Tensor& target);

}  // namespace bench::ap1
