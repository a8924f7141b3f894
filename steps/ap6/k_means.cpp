#include "ap6/k_means.hpp"

#include "harness/communicator.hpp"

namespace bench::ap6 {
namespace {

torch::Tensor nearest(const torch::Tensor& rows, const torch::Tensor& centroids) {
  return rows.mm(centroids.t()).argmax(1);
}

torch::Tensor moved(const torch::Tensor& centroids, const torch::Tensor& rows,
                    const torch::Tensor& labels, steps::Communicator& ranks) {
  // A product instead of additions by index, whose order a GPU does not keep.
  const torch::Tensor members =
      torch::one_hot(labels, centroids.size(0)).to(rows.scalar_type()).t();  // (clusters, n)
  const torch::Tensor sums =
      torch::cat({members.mm(rows), members.sum(1, /*keepdim=*/true)}, 1);  // (clusters, d + 1)
  ranks.all_reduce(sums).wait();
  const torch::Tensor counts = sums.narrow(1, rows.size(1), 1);
  const torch::Tensor means = sums.narrow(1, 0, rows.size(1)) / counts.clamp_min(1);
  namespace nn = torch::nn::functional;
  return nn::normalize(torch::where(counts > 0, means, centroids),
                       nn::NormalizeFuncOptions().dim(1));
}

}  // namespace

Clusters spherical_k_means(const torch::Tensor& rows, torch::Tensor centroids, int iterations,
                           steps::Communicator& ranks) {
  const torch::NoGradGuard no_gradient;
  for (int i = 0; i < iterations; ++i)
    centroids = moved(centroids, rows, nearest(rows, centroids), ranks);
  return {centroids, nearest(rows, centroids)};
}

}  // namespace bench::ap6
