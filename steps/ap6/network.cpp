#include "ap6/network.hpp"

#include "ap6/sample.hpp"
#include "harness/communicator.hpp"
#include "vision/network/layers.hpp"
#include "vision/network/model.hpp"
#include "vision/network/norm_over_ranks.hpp"
#include "vision/network/resnet.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ap6 {

vision::Path encoder_layers() {
  constexpr std::int64_t hidden = 2048;
  vision::Path layers = vision::resnet(vision::ResidualBlock::bottleneck, {3, 4, 6, 3});
  const vision::Path projection = {vision::Linear{hidden}, vision::Normalisation{}, vision::Relu{},
                                   vision::Linear{feature_count}};
  layers.insert(layers.end(), projection.begin(), projection.end());
  return layers;
}

vision::Shape encoder_input(const Grid& crop) {
  return {channel_count, crop.height, crop.width};
}

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

}  // namespace bench::ap6
