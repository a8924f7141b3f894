#include "deepcam/network.hpp"

#include "deepcam/architecture.hpp"
#include "deepcam/layers.hpp"
#include "deepcam/sample.hpp"
#include "deepcam/value_range.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/core.h>

namespace bench::deepcam {
namespace {

/// (16, 1, 1)
torch::Tensor per_channel(const std::array<float, channel_count>& values) {
  return torch::tensor(torch::ArrayRef<float>(values)).view({channel_count, 1, 1});
}

}  // namespace

XceptionImpl::XceptionImpl(const Architecture& architecture) {
  std::int64_t in = channel_count;
  for (const std::int64_t out : architecture.entry) {
    const std::int64_t stride = entry_.empty() ? 2 : 1;
    entry_.push_back(register_module(fmt::format("entry{}", entry_.size()),
                                     ConvolutionRelu(ConvolutionSizes{in, out, 3, stride})));
    in = out;
  }
  for (const Block& block : architecture.blocks)
    blocks_.push_back(
        register_module(fmt::format("block{}", blocks_.size()), ResidualBlock(block)));
  for (const Separable& layer : architecture.exit)
    exit_.push_back(register_module(fmt::format("exit{}", exit_.size()), SeparableLayer(layer)));
}

XceptionImpl::Features XceptionImpl::forward(torch::Tensor x) {
  for (ConvolutionRelu& layer : entry_)
    x = layer(x);  // (B, 32, H/2, W/2), (B, 64, H/2, W/2)
  // The published network has this ReLU in place, so that the low-level features have it, too.
  const torch::Tensor low = rectified(blocks_.front()(x));  // (B, 128, H/4, W/4)
  x = low;
  for (std::size_t i = 1; i < blocks_.size(); ++i)
    x = blocks_[i](x);  // (B, 256, H/8, W/8), (B, 728, H/16, W/16), ..., (B, 1024, H/16, W/16)
  for (SeparableLayer& layer : exit_)
    x = rectified(layer(x));  // (B, 2048, H/16, W/16) at last
  return {x, low};
}

ContextImpl::ContextImpl(const Architecture& architecture)
    : image_(register_module(
          "image", make_convolution({architecture.exit.back().out, architecture.context}))),
      image_scale_(register_parameter("image_scale", torch::ones({architecture.context, 1, 1}))),
      image_shift_(register_parameter("image_shift", torch::zeros({architecture.context, 1, 1}))),
      join_(register_module("join", ConvolutionRelu(ConvolutionSizes{
                                        static_cast<std::int64_t>(architecture.rates.size() + 1) *
                                            architecture.context,
                                        architecture.context}))) {
  for (const std::int64_t rate : architecture.rates) {
    const std::int64_t kernel = rate == 1 ? 1 : 3;
    branches_.push_back(
        register_module(fmt::format("branch{}", branches_.size()),
                        ConvolutionRelu(ConvolutionSizes{.in = architecture.exit.back().out,
                                                         .out = architecture.context,
                                                         .kernel = kernel,
                                                         .dilation = rate})));
  }
}

torch::Tensor ContextImpl::forward(const torch::Tensor& x) {
  std::vector<torch::Tensor> views;
  for (ConvolutionRelu& branch : branches_)
    views.push_back(branch(x));  // (B, 256, h, w)
  const torch::Tensor image =
      rectified(image_(x.mean({2, 3}, true)) * image_scale_ + image_shift_);  // (B, 256, 1, 1)
  views.push_back(image.expand({-1, -1, x.size(2), x.size(3)}).to(views.front().scalar_type()));
  return join_(torch::cat(views, 1));
}

DecoderImpl::DecoderImpl(const Architecture& architecture)
    : first_(register_module("first", DoublingRelu(architecture.context, architecture.context))),
      second_(register_module("second", DoublingRelu(architecture.context, architecture.context))),
      join_(register_module(
          "join", ConvolutionRelu(ConvolutionSizes{architecture.context + architecture.low_level,
                                                   architecture.context, 3}))),
      smooth_(register_module("smooth", ConvolutionRelu(ConvolutionSizes{
                                            architecture.context, architecture.context, 3}))),
      mix_(
          register_module("mix", torch::nn::Conv2d(architecture.context, architecture.context, 1))),
      third_(register_module("third", DoublingRelu(architecture.context, architecture.context))),
      classify_(register_module("classify", make_doubling(architecture.context, label::count))) {}

torch::Tensor DecoderImpl::forward(torch::Tensor x, const torch::Tensor& low) {
  x = second_(first_(x));                             // (B, 256, H/4, W/4)
  x = mix_(smooth_(join_(torch::cat({x, low}, 1))));  // (B, 256, H/4, W/4)
  return classify_(third_(x));                        // (B, 3, H, W)
}

DeepLabImpl::DeepLabImpl(const Architecture& architecture)
    : smallest_(register_buffer("smallest", torch::zeros({channel_count, 1, 1}))),
      factor_(register_buffer("factor", torch::ones({channel_count, 1, 1}))),
      xception_(register_module("xception", Xception(architecture))),
      context_(register_module("context", Context(architecture))),
      low_level_(register_module("low_level",
                                 ConvolutionRelu(ConvolutionSizes{architecture.blocks.front().out(),
                                                                  architecture.low_level}))),
      decoder_(register_module("decoder", Decoder(architecture))) {}

void DeepLabImpl::set_value_range(const ValueRange& range) {
  const torch::Tensor smallest = per_channel(range.smallest);
  smallest_.copy_(smallest);
  factor_.copy_(1 / (per_channel(range.largest) - smallest));
}

void DeepLabImpl::use_channels_last() {
  for (torch::Tensor& weight : parameters())
    if (weight.dim() == 4)
      weight.set_data(weight.contiguous(torch::MemoryFormat::ChannelsLast));
}

torch::Tensor DeepLabImpl::forward(const torch::Tensor& x) {
  const XceptionImpl::Features features = xception_->forward((x - smallest_) * factor_);
  return decoder_->forward(context_(features.high), low_level_(features.low));
}

}  // namespace bench::deepcam
