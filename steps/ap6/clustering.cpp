#include "ap6/clustering.hpp"

#include "ap6/network.hpp"
#include "data/random.hpp"
#include "data/sample_loader.hpp"
#include "harness/communicator.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench::ap6 {

MemoryBank::MemoryBank(const BankSizes& sizes, const torch::Device& device)
    : sizes_(sizes),
      index_(torch::zeros(sizes.rows(), torch::TensorOptions(device).dtype(torch::kLong))),
      features_(torch::zeros({sizes.crops, sizes.rows(), sizes.features},
                             torch::TensorOptions(device))) {}

void MemoryBank::add(const torch::Tensor& index, const torch::Tensor& features) {
  const torch::NoGradGuard no_gradient;
  const std::int64_t row = oldest_ * sizes_.batch_size;
  index_.narrow(0, row, sizes_.batch_size).copy_(index);
  features_.narrow(1, row, sizes_.batch_size).copy_(features.transpose(0, 1));
  oldest_ = (oldest_ + 1) % sizes_.batches;
}

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

Clustering::Clustering(const Heads& heads, std::int64_t samples, std::uint64_t seed,
                       steps::Communicator& ranks, const torch::Device& device)
    : heads_(heads),
      seed_(~seed),
      ranks_(ranks),
      labels_(torch::full({heads.count, samples}, no_label,
                          torch::TensorOptions(device).dtype(torch::kLong))) {}

void Clustering::update(const MemoryBank& bank, Prototypes& prototypes) {
  const torch::NoGradGuard no_gradient;
  std::vector<torch::Tensor> labels_of_heads;
  for (std::int64_t head = 0; head < heads_.count; ++head) {
    const std::int64_t crop = head % bank.sizes().crops;
    Clusters clusters =
        spherical_k_means(bank.features(crop), first_centroids(bank, crop), iterations, ranks_);
    prototypes->weight[head].copy_(clusters.centroids);
    labels_of_heads.push_back(std::move(clusters.labels));
  }
  set_labels(bank, labels_of_heads);
}

/// Features of different rows of all banks. Rows are numbered in the order of the batches of a
/// step, so their choice does not depend on the number of ranks.
torch::Tensor Clustering::first_centroids(const MemoryBank& bank, std::int64_t crop) {
  const std::int64_t batch_size = bank.sizes().batch_size;
  const std::int64_t ranks = ranks_.size();
  const std::vector<std::uint32_t> order =
      steps::permutation(static_cast<std::uint32_t>(ranks * bank.sizes().rows()),
                         steps::EpochOrder::stream(seed_, draws_++));
  std::vector<std::int64_t> rows;       // of this rank's bank
  std::vector<std::int64_t> centroids;  // that they become
  for (std::int64_t centroid = 0; centroid < heads_.clusters; ++centroid) {
    const auto number = static_cast<std::int64_t>(order.at(static_cast<std::size_t>(centroid)));
    const std::int64_t batch = number / batch_size;
    if (batch % ranks != ranks_.rank())
      continue;
    rows.push_back(batch / ranks * batch_size + number % batch_size);
    centroids.push_back(centroid);
  }
  const torch::Device device = labels_.device();
  const torch::Tensor features = bank.features(crop);
  const torch::Tensor chosen =
      torch::zeros({heads_.clusters, features.size(1)}, features.options());
  chosen.index_copy_(0, torch::tensor(centroids, torch::kLong).to(device),
                     features.index_select(0, torch::tensor(rows, torch::kLong).to(device)));
  ranks_.all_reduce(chosen).wait();
  return chosen;
}

void Clustering::set_labels(const MemoryBank& bank,
                            const std::vector<torch::Tensor>& labels_of_heads) {
  const torch::Tensor index = ranks_.all_gather(bank.index()).flatten();  // (ranks * rows)
  const torch::Tensor labels = ranks_.all_gather(torch::stack(labels_of_heads))
                                   .transpose(0, 1)
                                   .flatten(1);  // (heads, ranks * rows)
  labels_.fill_(no_label);
  labels_.index_copy_(1, index, labels);
}

}  // namespace bench::ap6
