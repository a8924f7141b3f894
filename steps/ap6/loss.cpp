#include "ap6/loss.hpp"

#include <cstdint>

namespace bench::ap6 {

torch::Tensor cluster_loss(const torch::Tensor& features, const torch::Tensor& prototypes,
                           const torch::Tensor& labels) {
  const std::int64_t heads = prototypes.size(0);
  const torch::Tensor scores =
      features.matmul(prototypes.flatten(0, 1).t())
          .view({features.size(0), features.size(1), heads, -1});  // (B, C, heads, clusters)
  const torch::Tensor targets =
      labels.t().unsqueeze(1).expand({features.size(0), features.size(1), heads});
  const torch::Tensor sum = torch::cross_entropy_loss(
      scores.flatten(0, 2) / temperature, targets.reshape(-1), {}, at::Reduction::Sum, no_label);
  const torch::Tensor labelled = targets.ne(no_label).sum();
  return sum / labelled.clamp_min(1);
}

}  // namespace bench::ap6
