#include "ap4/loss.hpp"

#include <cmath>
#include <numbers>

namespace bench::ap4 {
namespace {

/// As in ENS-10's code: keeps z finite where the deviation is 0.
constexpr double epsilon = 1e-15;

}  // namespace

torch::Tensor gaussian_crps(const torch::Tensor& error, const torch::Tensor& deviation) {
  const torch::Tensor z = (error + epsilon) / (deviation + epsilon);
  const torch::Tensor density = torch::exp(-0.5 * z.square()) / std::sqrt(2 * std::numbers::pi);
  return deviation *
         (z * torch::erf(z / std::numbers::sqrt2) + 2 * density - std::numbers::inv_sqrtpi);
}

torch::Tensor crps_loss(const torch::Tensor& output, const torch::Tensor& scale,
                        const torch::Tensor& target) {
  const torch::Tensor exact = output.to(target.scalar_type());
  const torch::Tensor mean = scale.narrow(1, 0, 1);  // (B, 1, H, W)
  const torch::Tensor deviation = scale.narrow(1, 1, 1);
  // Differences first: the geopotential has few digits left behind its size of 5e4.
  const torch::Tensor error = exact.narrow(1, 0, 1) * deviation - (target - mean);
  return gaussian_crps(error, torch::exp(exact.narrow(1, 1, 1)) * deviation).mean();
}

}  // namespace bench::ap4
