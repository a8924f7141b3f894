#pragma once

#include "ap6/data.hpp"
#include "harness/communicator.hpp"
#include "harness/cost.hpp"
#include "harness/torch_all.hpp"
#include "vision/network/layers.hpp"
#include "vision/network/model.hpp"

#include <cstdint>

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

}  // namespace bench::ap6
