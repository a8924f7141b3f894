#include "deepcam/layers.hpp"

#include "deepcam/architecture.hpp"

#include <cstddef>
#include <cstdint>

#include <fmt/core.h>

namespace bench::deepcam {

torch::Tensor rectified(torch::Tensor x) {
  return torch::relu_(x);
}

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

torch::nn::ConvTranspose2d make_doubling(std::int64_t in, std::int64_t out) {
  return torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(in, out, 3)
                                        .stride(2)
                                        .padding(1)
                                        .output_padding(1)
                                        .bias(false));
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

}  // namespace bench::deepcam
