#include "deepcam/network.hpp"

#include "harness/cost.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/core.h>

namespace bench::deepcam {
namespace {

/// Ends with a convolution that halves the image.
Block halving_block(std::int64_t in, std::int64_t out, bool relu) {
  return {.layers = {{.in = in, .out = out},
                     {.in = out, .out = out},
                     {.in = out, .out = out, .stride = 2, .normalised = false}},
          .relu = relu};
}

Block middle_block(std::int64_t channels) {
  constexpr std::size_t repetitions = 3;
  return {.layers = std::vector<Separable>(repetitions, {.in = channels, .out = channels})};
}

Block last_block(std::int64_t in, std::int64_t out) {
  return {.layers = {{.in = in, .out = in},
                     {.in = in, .out = out},
                     {.in = out, .out = out, .normalised = false}},
          .relu = false};
}

/// In place, so only of a tensor that its layer does not need for its gradient.
torch::Tensor rectified(torch::Tensor x) {
  return torch::relu_(x);
}

/// Without bias, padded to (H / stride, W / stride). Weights begin normally distributed after He et
/// al. (arXiv:1502.01852), eq. 10.
torch::nn::Conv2d make_convolution(const ConvolutionSizes& sizes) {
  torch::nn::Conv2d convolution(torch::nn::Conv2dOptions(sizes.in, sizes.out, sizes.kernel)
                                    .stride(sizes.stride)
                                    .padding(sizes.dilation * (sizes.kernel - 1) / 2)
                                    .dilation(sizes.dilation)
                                    .groups(sizes.groups)
                                    .bias(false));
  torch::nn::init::kaiming_normal_(convolution->weight);
  return convolution;
}

/// Without bias: (B, in, H, W) -> (B, out, 2H, 2W).
torch::nn::ConvTranspose2d make_doubling(std::int64_t in, std::int64_t out) {
  return torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(in, out, 3)
                                        .stride(2)
                                        .padding(1)
                                        .output_padding(1)
                                        .bias(false));
}

}  // namespace

Architecture::Architecture(std::int64_t divisor)
    : entry{32 / divisor, 64 / divisor},
      rates{1, 6, 12, 18},
      context(256 / divisor),
      low_level(48 / divisor) {
  const auto channels = [&](std::int64_t published) { return published / divisor; };
  blocks.push_back(halving_block(channels(64), channels(128), false));
  blocks.push_back(halving_block(channels(128), channels(256), true));
  blocks.push_back(halving_block(channels(256), channels(728), true));
  constexpr int middle_blocks = 16;
  for (int i = 0; i < middle_blocks; ++i)
    blocks.push_back(middle_block(channels(728)));
  blocks.push_back(last_block(channels(728), channels(1024)));
  std::int64_t in = channels(1024);
  for (const std::int64_t out : {1536, 1536, 2048}) {
    exit.push_back({.in = in, .out = channels(out), .dilation = 2});
    in = channels(out);
  }
}

ConvolutionReluImpl::ConvolutionReluImpl(const ConvolutionSizes& sizes)
    : convolution_(register_module("convolution", make_convolution(sizes))),
      norm_(register_module("norm", torch::nn::BatchNorm2d(sizes.out))) {}

torch::Tensor ConvolutionReluImpl::forward(const torch::Tensor& x) {
  return rectified(norm_(convolution_(x)));
}

DoublingReluImpl::DoublingReluImpl(std::int64_t in, std::int64_t out)
    : convolution_(register_module("convolution", make_doubling(in, out))),
      norm_(register_module("norm", torch::nn::BatchNorm2d(out))) {}

torch::Tensor DoublingReluImpl::forward(const torch::Tensor& x) {
  return rectified(norm_(convolution_(x)));
}

SeparableLayerImpl::SeparableLayerImpl(const Separable& sizes)
    : depthwise_(register_module("depthwise", make_convolution({.in = sizes.in,
                                                                .out = sizes.in,
                                                                .kernel = 3,
                                                                .stride = sizes.stride,
                                                                .dilation = sizes.dilation,
                                                                .groups = sizes.in}))),
      pointwise_(
          register_module("pointwise", make_convolution({.in = sizes.in, .out = sizes.out}))) {
  if (sizes.normalised)
    norm_ = register_module("norm", torch::nn::BatchNorm2d(sizes.out));
}

torch::Tensor SeparableLayerImpl::forward(const torch::Tensor& x) {
  const torch::Tensor y = pointwise_(depthwise_(x));
  return norm_.is_empty() ? y : norm_(y);
}

ResidualBlockImpl::ResidualBlockImpl(const Block& block) : relu_(block.relu) {
  for (std::size_t i = 0; i < block.layers.size(); ++i) {
    const bool relu = i + 1 < block.layers.size() && block.layers[i + 1].normalised;
    steps_.push_back(
        {register_module(fmt::format("layer{}", i), SeparableLayer(block.layers[i])), relu});
  }
  if (!block.changes_shape())
    return;
  shortcut_ = register_module(
      "shortcut",
      make_convolution({.in = block.in(), .out = block.out(), .stride = block.stride()}));
  shortcut_norm_ = register_module("shortcut_norm", torch::nn::BatchNorm2d(block.out()));
}

torch::Tensor ResidualBlockImpl::forward(const torch::Tensor& x) {
  torch::Tensor y = x;
  for (Step& step : steps_) {
    y = step.layer(y);
    if (step.relu)
      y = rectified(y);
  }
  y = y + (shortcut_.is_empty() ? x : shortcut_norm_(shortcut_(x)));
  return relu_ ? rectified(y) : y;
}

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

namespace {

/// Adds the costs of layers that work on images of one size.
class LayerCosts {
 public:
  LayerCosts(steps::Cost& cost, std::int64_t height, std::int64_t width)
      : cost_(&cost), height_(height), width_(width) {}

  LayerCosts at_stride(std::int64_t stride) const {
    return {*cost_, height_ / stride, width_ / stride};
  }

  /// To this image.
  void convolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                   std::int64_t groups = 1) const {
    cost_->convolution({.in = in,
                        .out = out,
                        .kernel = {kernel, kernel},
                        .output = {height_, width_},
                        .groups = groups,
                        .bias = false});
  }
  void normalised(std::int64_t in, std::int64_t out, std::int64_t kernel) const {
    convolution(in, out, kernel);
    cost_->normalisation({.channels = out});
  }
  void separable(const Separable& layer) const {
    convolution(layer.in, layer.in, 3, layer.in);
    convolution(layer.in, layer.out, 1);
    if (layer.normalised)
      cost_->normalisation({.channels = layer.out});
  }
  /// From this image to one of twice the size.
  void doubling(std::int64_t in, std::int64_t out) const {
    cost_->transposed_convolution(
        {.in = in, .out = out, .kernel = {3, 3}, .input = {height_, width_}, .bias = false});
  }
  void doubling_normalised(std::int64_t in, std::int64_t out) const {
    doubling(in, out);
    cost_->normalisation({.channels = out});
  }

 private:
  steps::Cost* cost_;
  std::int64_t height_;
  std::int64_t width_;
};

/// Returns the costs at the block's output.
LayerCosts add_block(const LayerCosts& input, const Block& block) {
  const LayerCosts output = input.at_stride(block.stride());
  for (const Separable& layer : block.layers)
    (layer.stride == 1 ? input : output).separable(layer);
  if (block.changes_shape())
    output.normalised(block.in(), block.out(), 1);
  return output;
}

void add_context(steps::Cost& cost, const LayerCosts& layers, const Architecture& architecture) {
  const std::int64_t in = architecture.exit.back().out;
  const std::int64_t out = architecture.context;
  for (const std::int64_t rate : architecture.rates)
    layers.normalised(in, out, rate == 1 ? 1 : 3);
  cost.linear({.in = in, .out = out, .bias = false}).parameters(2 * out);  // the whole image
  layers.normalised(static_cast<std::int64_t>(architecture.rates.size() + 1) * out, out, 1);
}

}  // namespace

steps::Cost cost(std::int64_t height, std::int64_t width, const Architecture& architecture) {
  steps::Cost total;
  total.input({channel_count, height, width});
  const LayerCosts image(total, height, width);
  LayerCosts layers = image.at_stride(2);
  std::int64_t in = channel_count;
  for (const std::int64_t out : architecture.entry) {
    layers.normalised(in, out, 3);
    in = out;
  }
  for (const Block& block : architecture.blocks)
    layers = add_block(layers, block);
  for (const Separable& layer : architecture.exit)
    layers.separable(layer);
  add_context(total, layers, architecture);
  const LayerCosts quarter = image.at_stride(4);
  const std::int64_t context = architecture.context;
  quarter.normalised(architecture.blocks.front().out(), architecture.low_level, 1);
  layers.doubling_normalised(context, context);
  image.at_stride(8).doubling_normalised(context, context);
  quarter.normalised(context + architecture.low_level, context, 3);
  quarter.normalised(context, context, 3);
  quarter.convolution(context, context, 1);
  total.parameters(context);  // its bias
  quarter.doubling_normalised(context, context);
  image.at_stride(2).doubling(context, label::count);
  return total;
}

torch::Tensor class_weights(const torch::TensorOptions& options) {
  constexpr std::array<double, label::count> frequencies{0.986267818390377, 0.0004578708870701058,
                                                         0.01327431072255291};
  constexpr double power = -0.125;
  std::array<double, label::count> weights{};
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = std::pow(frequencies[i], power);
  return torch::tensor(torch::ArrayRef<double>(weights), options);
}

torch::Tensor cross_entropies(const torch::Tensor& scores, const torch::Tensor& labels,
                              const torch::Tensor& weights) {
  return torch::cross_entropy_loss(scores.to(weights.scalar_type()), labels, weights,
                                   torch::Reduction::None)
      .mean({1, 2});
}

torch::Tensor intersections_over_unions(const torch::Tensor& scores, const torch::Tensor& labels) {
  const torch::Tensor predicted = scores.argmax(1);  // (B, H, W)
  std::vector<torch::Tensor> shares;
  for (std::int64_t i = 0; i < label::count; ++i) {
    const torch::Tensor found = predicted.eq(i);
    const torch::Tensor real = labels.eq(i);
    const torch::Tensor both = found.logical_and(real).sum({1, 2}).to(torch::kDouble);
    const torch::Tensor either = found.logical_or(real).sum({1, 2}).to(torch::kDouble);
    shares.push_back(torch::where(either.gt(0), both / either, torch::ones_like(either)));
  }
  return torch::stack(shares, 1).mean(1);
}

}  // namespace bench::deepcam
