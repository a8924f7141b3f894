#include "atmorep/loss.hpp"

#include "atmorep/masking.hpp"

#include <cstddef>
#include <vector>

namespace bench::atmorep {
namespace {

/// Added to the variance: without it, members that agree would have no finite gradient.
constexpr double epsilon = 1e-12;

}  // namespace

Loss loss_of(const std::vector<torch::Tensor>& predicted, const MaskedBatch& batch) {
  Loss loss;
  const auto add = [&](torch::Tensor& sum, const torch::Tensor& number) {
    const torch::Tensor share = number / static_cast<double>(predicted.size());
    sum = sum.defined() ? sum + share : share;
  };
  for (std::size_t field = 0; field < predicted.size(); ++field) {
    const torch::Tensor& target = batch.targets[field];  // (M, points)
    const auto mean_of = [&](const torch::Tensor& scores) {
      return torch::dot(scores.mean(1), batch.weights[field].to(target.scalar_type()));
    };
    const torch::Tensor members = predicted[field].to(target.scalar_type());  // (E, M, points)
    const torch::Tensor variance = members.var(0, /*unbiased=*/true) + epsilon;
    const torch::Tensor error = (members.mean(0) - target).square();
    const torch::Tensor miss = 1 - torch::exp(-0.5 * error / variance);
    const torch::Tensor spread = torch::sqrt(torch::sqrt(variance));
    add(loss.total, mean_of((members - target).square().mean(0) + miss.square() + spread) / 2);
    add(loss.squared_error, mean_of(error).detach());
  }
  return loss;
}

}  // namespace bench::atmorep
