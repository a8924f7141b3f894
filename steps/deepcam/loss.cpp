#include "deepcam/loss.hpp"

#include "deepcam/sample.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::deepcam {

torch::Tensor class_weights(const torch::TensorOptions& options) {
  constexpr std::array<double, label::count> frequencies{0.986267818390377, 0.0004578708870701058,
                                                         0.01327431072255291};
  constexpr double power = -0.125;
  std::array<double, label::count> weights{};
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = std::pow(frequencies[i], power);
  return torch::tensor(torch::ArrayRef<double>(weights), options);
}

torch::Tensor cross_entropies(const torch::Tensor& scores, const torch::Tensor& labels,
                              const torch::Tensor& weights) {
  return torch::cross_entropy_loss(scores.to(weights.scalar_type()), labels, weights,
                                   torch::Reduction::None)
      .mean({1, 2});
}

torch::Tensor intersections_over_unions(const torch::Tensor& scores, const torch::Tensor& labels) {
  const torch::Tensor predicted = scores.argmax(1);  // (B, H, W)
  std::vector<torch::Tensor> shares;
  for (std::int64_t i = 0; i < label::count; ++i) {
    const torch::Tensor found = predicted.eq(i);
    const torch::Tensor real = labels.eq(i);
    const torch::Tensor both = found.logical_and(real).sum({1, 2}).to(torch::kDouble);
    const torch::Tensor either = found.logical_or(real).sum({1, 2}).to(torch::kDouble);
    shares.push_back(torch::where(either.gt(0), both / either, torch::ones_like(either)));
  }
  return torch::stack(shares, 1).mean(1);
}

}  // namespace bench::deepcam
