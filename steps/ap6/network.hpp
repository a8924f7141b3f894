#pragma once

#include "ap6/sample.hpp"
#include "harness/communicator.hpp"
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

/// ResNet-50 for 25 channels, and a projection of two layers: (N, 25, h, w) -> (N, 128).
///
/// Sources: Caron et al., Unsupervised Learning of Visual Features by Contrasting Cluster
/// Assignments (arXiv:2006.09882), whose DeepCluster-v2 it is, with the stride of torchvision's
/// ResNet-50. The reference pads by 1 before a 7x7 convolution that pads by 2, which is the same as
/// padding by 3.
vision::Path encoder_layers();

/// Of a crop.
vision::Shape encoder_input(const Grid& crop);

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

}  // namespace bench::ap6
