#include "cosmoflow/loss.hpp"

namespace bench::cosmoflow {

torch::Tensor squared_errors(const torch::Tensor& prediction, const torch::Tensor& target) {
  return (prediction.to(target.scalar_type()) - target).square().mean(1);
}

torch::Tensor absolute_errors(const torch::Tensor& prediction, const torch::Tensor& target) {
  return (prediction.to(target.scalar_type()) - target).abs().mean(1);
}

}  // namespace bench::cosmoflow
