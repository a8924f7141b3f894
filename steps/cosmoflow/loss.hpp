#pragma once

#include "harness/torch_all.hpp"

namespace bench::cosmoflow {

// Of predicted and true parameters, (B, 4), in the precision of the latter: fp32 also with
// autocast.

/// Mean of the squared errors of each sample: (B). The loss is its mean.
torch::Tensor squared_errors(const torch::Tensor& prediction, const torch::Tensor& target);

/// Mean of the absolute errors of each sample: (B). Its mean over a validation part is MLPerf HPC's
/// `eval_error`.
torch::Tensor absolute_errors(const torch::Tensor& prediction, const torch::Tensor& target);

}  // namespace bench::cosmoflow
