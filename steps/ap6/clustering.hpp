#pragma once

#include "ap6/network.hpp"
#include "harness/communicator.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <vector>

namespace bench::ap6 {

/// Sizes of a memory bank.
struct BankSizes {
  std::int64_t batches = 1;     ///< Of this rank in an epoch.
  std::int64_t batch_size = 1;  ///< Samples.
  std::int64_t crops = 2;
  std::int64_t features = 128;

  std::int64_t rows() const { return batches * batch_size; }
};

/// The features that this rank has computed in its last steps, as many as an epoch has.
class MemoryBank {
 public:
  MemoryBank(const BankSizes& sizes, const torch::Device& device);

  /// Keeps the features of a batch in place of those of the oldest one.
  /// @param index (B) int64, numbers of the samples
  /// @param features (B, crops, features)
  void add(const torch::Tensor& index, const torch::Tensor& features);

  const BankSizes& sizes() const { return sizes_; }
  /// (rows), the sample of each row.
  const torch::Tensor& index() const { return index_; }
  /// (rows, features), the features of one of the crops.
  torch::Tensor features(std::int64_t crop) const { return features_[crop]; }

 private:
  BankSizes sizes_;
  torch::Tensor index_;     // (rows) int64
  torch::Tensor features_;  // (crops, rows, features)
  std::int64_t oldest_ = 0;
};

/// Clusters of rows.
struct Clusters {
  torch::Tensor centroids;  ///< (clusters, d), of length 1; the same on all ranks.
  torch::Tensor labels;     ///< (n) int64, the cluster of each row of this rank.
};

/// Spherical k-means over the rows of all ranks: a row belongs to the centroid with the largest
/// scalar product, and a centroid is the mean of its rows, brought to length 1. A centroid without
/// rows stays.
///
/// Source: Dhillon and Modha, Concept Decompositions for Large Sparse Text Data Using Clustering
/// (Machine Learning 42, 2001), section 3.
/// @param rows (n, d), of length 1; each rank has others, as many
/// @param centroids (clusters, d), of length 1, to begin with; the same on all ranks
/// @param iterations after which the rows are assigned once more
Clusters spherical_k_means(const torch::Tensor& rows, torch::Tensor centroids, int iterations,
                           steps::Communicator& ranks);

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
