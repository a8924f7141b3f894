#pragma once

#include "ap6/data.hpp"
#include "harness/communicator.hpp"
#include "harness/cost.hpp"
#include "harness/loop.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/torch_all.hpp"
#include "harness/trainer.hpp"
#include "vision/network/model.hpp"
#include "vision/network/tables.hpp"

#include <cstdint>
#include <vector>

namespace bench::ap6 {

/// Numbers in the features of a crop.
inline constexpr std::int64_t feature_count = 128;

/// Numbers of clusters: each head divides the samples in another way.
struct Heads {
  std::int64_t count = 4;
  std::int64_t clusters = 40;  ///< Of each head.
};

/// The centre of each cluster, of length 1: a linear layer without bias for each head.
class PrototypesImpl : public torch::nn::Module {
 public:
  explicit PrototypesImpl(const Heads& heads);

  torch::Tensor weight;  ///< (heads, clusters, 128)
};
TORCH_MODULE(Prototypes);

/// The network of DeepClusterV2.
class DeepClusterImpl : public torch::nn::Module {
 public:
  DeepClusterImpl(const Grid& crop, const Heads& heads);

  /// Moves it to a device, where a GPU gets channels-last weights, and has its batch normalisations
  /// normalise over the ranks.
  /// @param ranks must outlive this object
  void prepare(const torch::Device& device, steps::Communicator& ranks);
  void use_channels_last();

  /// The projected features of crops, of length 1: (B, 2, 25, h, w) -> (B, 2, 128). They are fp32
  /// or fp64 also under autocast.
  torch::Tensor features(const torch::Tensor& crops);

  vision::Network& encoder() { return encoder_; }
  Prototypes& prototypes() { return prototypes_; }

 private:
  vision::Network encoder_;
  Prototypes prototypes_;
  torch::MemoryFormat memory_format_ = torch::MemoryFormat::Contiguous;
};
TORCH_MODULE(DeepCluster);

/// Divides the scores before their softmax.
inline constexpr double temperature = 0.1;

/// The label of a sample whose cluster is unknown. It does not count.
inline constexpr std::int64_t no_label = -1;

/// Cross-entropy of the clusters of crops: the mean over heads and crops, and over the samples that
/// have a label. 0 if none has one.
///
/// The scores of a crop are its cosines with the prototypes. A sample has a label in all heads or
/// in none.
/// @param features (B, C, 128), of length 1
/// @param prototypes (heads, clusters, 128), of length 1
/// @param labels (heads, B) int64
torch::Tensor cluster_loss(const torch::Tensor& features, const torch::Tensor& prototypes,
                           const torch::Tensor& labels);

/// Of a training step on both crops of a sample. The clustering is not in it.
steps::Cost cost(const Grid& grid, const Heads& heads);

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

/// The published one, over epochs.
steps::RateSchedule default_schedule();

/// SGD with momentum, as in D3.7.
/// @param schedule over epochs
steps::TrainerOptions trainer_options(const steps::RateSchedule& schedule,
                                      std::int64_t samples_per_epoch, std::int64_t global_batch);

/// Trains the prototypes beside the encoder. In the first steps they do not learn: only the
/// clustering moves them. The reference never gets beyond these.
class PrototypeTraining {
 public:
  /// Steps of the encoder in which they do not learn.
  static constexpr std::int64_t default_frozen_steps = 3'000'000;

  /// @param options as of the encoder, whose learning rate they have at each of its steps
  /// @param encoder must outlive this object
  PrototypeTraining(const steps::TrainingContext& context, Prototypes prototypes,
                    const steps::TrainerOptions& options, const steps::Trainer& encoder,
                    std::int64_t frozen_steps);

  bool is_frozen() const { return encoder_.steps() < frozen_steps_; }

  /// Unless they are frozen: an update by the loss of a batch whose features stay what they are.
  /// The encoder's backward pass of this step has ended.
  /// @param features (B, C, 128)
  /// @param labels (heads, B)
  void update(steps::Loop& loop, const torch::Tensor& features, const torch::Tensor& labels);

 private:
  Prototypes prototypes_;
  const steps::Trainer& encoder_;
  std::int64_t frozen_steps_;
  steps::Trainer trainer_;
};

}  // namespace bench::ap6
