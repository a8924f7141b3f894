#include "ap6/network.hpp"

#include "ap6/data.hpp"
#include "harness/communicator.hpp"
#include "harness/cost.hpp"
#include "vision/network/layers.hpp"
#include "vision/network/model.hpp"
#include "vision/network/tables.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ap6 {

namespace {

/// ResNet-50 for 25 channels, and a projection of two layers: (N, 25, h, w) -> (N, 128).
///
/// Sources: Caron et al., Unsupervised Learning of Visual Features by Contrasting Cluster
/// Assignments (arXiv:2006.09882), whose DeepCluster-v2 it is, with the stride of torchvision's
/// ResNet-50. The reference pads by 1 before a 7x7 convolution that pads by 2, which is the same as
/// padding by 3.
vision::Path encoder_layers() {
  constexpr std::int64_t hidden = 2048;
  vision::Path layers = vision::resnet(vision::ResidualBlock::bottleneck, {3, 4, 6, 3});
  const vision::Path projection = {vision::Linear{hidden}, vision::Normalisation{}, vision::Relu{},
                                   vision::Linear{feature_count}};
  layers.insert(layers.end(), projection.begin(), projection.end());
  return layers;
}

/// Of a crop.
vision::Shape encoder_input(const Grid& crop) {
  return {channel_count, crop.height, crop.width};
}

}  // namespace

PrototypesImpl::PrototypesImpl(const Heads& heads)
    : weight(register_parameter("weight",
                                torch::empty({heads.count, heads.clusters, feature_count}))) {
  const double bound =
      1 / std::sqrt(static_cast<double>(feature_count));  // as of torch::nn::Linear
  torch::nn::init::uniform_(weight, -bound, bound);
}

DeepClusterImpl::DeepClusterImpl(const Grid& crop, const Heads& heads)
    : encoder_(register_module("encoder", vision::Network(encoder_layers(), encoder_input(crop)))),
      prototypes_(register_module("prototypes", Prototypes(heads))) {}

void DeepClusterImpl::prepare(const torch::Device& device, steps::Communicator& ranks) {
  to(device);
  if (device.is_cuda())
    use_channels_last();
  vision::normalise_over_ranks(*encoder_, ranks);
}

void DeepClusterImpl::use_channels_last() {
  memory_format_ = torch::MemoryFormat::ChannelsLast;
  for (torch::Tensor& weight : encoder_->parameters())
    if (weight.dim() == 4)
      weight.set_data(weight.contiguous(memory_format_));
}

torch::Tensor DeepClusterImpl::features(const torch::Tensor& crops) {
  const torch::Tensor images = crops.flatten(0, 1).contiguous(memory_format_);  // (2 B, 25, h, w)
  const torch::Tensor projected = encoder_(images);                             // (2 B, 128)
  const torch::Tensor exact = projected.to(prototypes_->weight.scalar_type());
  namespace nn = torch::nn::functional;
  return nn::normalize(exact, nn::NormalizeFuncOptions().dim(1))
      .view({crops.size(0), crops.size(1), feature_count});
}

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

steps::Cost cost(const Grid& grid, const Heads& heads) {
  steps::Cost total = vision::count(encoder_layers(), encoder_input(crop_of(grid))).cost;
  return total.linear({.in = feature_count, .out = heads.count * heads.clusters, .bias = false})
      .applied(crop_count);
}

}  // namespace bench::ap6
