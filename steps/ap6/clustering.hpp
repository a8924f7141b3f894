#pragma once

#include "ap6/memory_bank.hpp"
#include "ap6/network.hpp"
#include "harness/communicator.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <vector>

namespace bench::ap6 {

/// The labels of a data set: which cluster each sample belongs to, in each head. They come from the
/// memory banks of all ranks, once in an epoch.
class Clustering {
 public:
  static constexpr int iterations = 10;  ///< Of k-means.

  /// @param samples of the data set
  /// @param seed of the centroids that k-means begins with
  /// @param ranks must outlive this object
  Clustering(const Heads& heads, std::int64_t samples, std::uint64_t seed,
             steps::Communicator& ranks, const torch::Device& device);

  /// Divides the features of the banks into clusters, one head after the other, the first one by
  /// those of the first crop, the second one by those of the second crop, and so on in turn. Their
  /// centres become the prototypes. Samples that are in no bank have no label afterwards. Of one
  /// that is there twice, with two labels, it is open which counts.
  /// @param bank of this rank; those of other ranks have the same sizes, and at least as many rows
  ///        together as a head has clusters
  void update(const MemoryBank& bank, Prototypes& prototypes);

  /// The labels of samples: (B) -> (heads, B) int64, `no_label` where there is none.
  torch::Tensor labels(const torch::Tensor& index) const { return labels_.index_select(1, index); }

 private:
  torch::Tensor first_centroids(const MemoryBank& bank, std::int64_t crop);
  void set_labels(const MemoryBank& bank, const std::vector<torch::Tensor>& labels_of_heads);

  Heads heads_;
  std::uint64_t seed_;       ///< Another stream than that of the samples.
  std::uint64_t draws_ = 0;  ///< Of first centroids so far.
  steps::Communicator& ranks_;
  torch::Tensor labels_;  // (heads, samples) int64
};

}  // namespace bench::ap6
