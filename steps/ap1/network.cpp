#include "ap1/network.hpp"

#include "ap1/sample.hpp"
#include "harness/keras.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/core.h>

namespace bench::ap1 {
namespace {

namespace keras = steps::keras;

torch::nn::BatchNorm2d normalisation(std::int64_t channels) {
  return torch::nn::BatchNorm2d(torch::nn::BatchNorm2dOptions(channels)
                                    .eps(keras::normalisation_epsilon)
                                    .momentum(keras::normalisation_momentum)
                                    .affine(false));
}

/// In place: no layer before it needs its own output for its gradient.
torch::Tensor activate(torch::Tensor x, Activation activation) {
  return activation == Activation::relu ? torch::relu_(x)
                                        : torch::leaky_relu_(x, keras::leaky_relu_slope);
}

}  // namespace

BlockImpl::BlockImpl(std::int64_t in, std::int64_t out, Activation activation)
    : activation_(activation),
      first_(register_module("first", torch::nn::Conv2d(in, out, 1))),
      first_norm_(register_module("first_norm", normalisation(out))),
      second_(register_module("second", torch::nn::Conv2d(out, out, 1))),
      second_norm_(register_module("second_norm", normalisation(out))) {}

torch::Tensor BlockImpl::forward(const torch::Tensor& x) {
  const torch::Tensor first = activate(first_norm_(first_(x)), activation_);  // (B, out, H, W)
  return activate(second_norm_(second_(first)), activation_);                 // (B, out, H, W)
}

UpImpl::UpImpl(std::int64_t in, std::int64_t out, Activation activation)
    : activation_(activation),
      reduce_(register_module("reduce", torch::nn::Conv2d(in, out, 1))),
      smooth_(register_module("smooth", torch::nn::Conv2d(out, out, 2))),
      block_(register_module("block", Block(2 * out, out, activation))) {}

torch::Tensor UpImpl::forward(const torch::Tensor& x, const torch::Tensor& skip) {
  torch::Tensor up = activate(reduce_(x), activation_);       // (B, out, H, W)
  up = torch::upsample_nearest2d(up, skip.sizes().slice(2));  // (B, out, 2H, 2W)
  up = torch::constant_pad_nd(up, {0, 1, 0, 1});              // (B, out, 2H + 1, 2W + 1)
  up = activate(smooth_(up), activation_);                    // (B, out, 2H, 2W)
  return block_(torch::cat({skip, up}, 1));                   // (B, out, 2H, 2W)
}

UNetImpl::UNetImpl(Activation activation)
    : bottom_(register_module("bottom", Block(level_channels[level_channels.size() - 2],
                                              level_channels.back(), activation))),
      head_(register_module("head", torch::nn::Conv2d(level_channels.front(), quantile_count, 1))) {
  std::int64_t channels = predictor_count;
  for (std::size_t level = 0; level + 1 < level_channels.size(); ++level) {
    encoder_.push_back(register_module(fmt::format("encoder{}", level),
                                       Block(channels, level_channels[level], activation)));
    channels = level_channels[level];
  }
  for (std::size_t level = level_channels.size() - 1; level > 0; --level)
    decoder_.push_back(
        register_module(fmt::format("decoder{}", level - 1),
                        Up(level_channels[level], level_channels[level - 1], activation)));
  keras::initialise(*this);
}

torch::Tensor UNetImpl::forward(torch::Tensor x) {  // (B, 17, P, P)
  std::vector<torch::Tensor> skips;                 // (B, 16, P, P), ..., (B, 256, P/16, P/16)
  for (Block& block : encoder_) {
    skips.push_back(block(x));
    x = torch::max_pool2d(skips.back(), 2);
  }
  x = bottom_(x);  // (B, 512, P/32, P/32)
  for (Up& up : decoder_) {
    x = up(x, skips.back());  // (B, 256, P/16, P/16), ..., (B, 16, P, P)
    skips.pop_back();
  }
  return head_(x);  // (B, 3, P, P)
}

}  // namespace bench::ap1
