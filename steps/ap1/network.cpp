#include "ap1/network.hpp"

#include "ap1/data.hpp"
#include "harness/arguments.hpp"
#include "harness/cost.hpp"
#include "harness/errors.hpp"
#include "harness/keras.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <CLI/CLI.hpp>
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

namespace {

void add_convolution(steps::Cost& cost, std::int64_t in, std::int64_t out, std::int64_t kernel,
                     std::int64_t side) {
  cost.convolution({.in = in, .out = out, .kernel = {kernel, kernel}, .output = {side, side}});
}

void add_block(steps::Cost& cost, std::int64_t in, std::int64_t out, std::int64_t side) {
  for (const std::int64_t channels : {in, out}) {
    add_convolution(cost, channels, out, 1, side);
    cost.normalisation({.channels = out, .scale = false, .shift = false});
  }
}

}  // namespace

steps::Cost cost(std::int64_t patch) {
  steps::Cost total;
  total.input({predictor_count, patch, patch});
  std::int64_t channels = predictor_count;
  std::int64_t side = patch;
  for (const std::int64_t out : level_channels) {
    add_block(total, channels, out, side);
    channels = out;
    side /= 2;
  }
  side = patch / patch_divisor;
  for (std::size_t level = level_channels.size() - 1; level > 0; --level) {
    const std::int64_t out = level_channels[level - 1];
    add_convolution(total, level_channels[level], out, 1, side);
    side *= 2;
    add_convolution(total, out, out, 2, side);
    add_block(total, 2 * out, out, side);
  }
  add_convolution(total, level_channels.front(), quantile_count, 1, patch);
  return total;
}

torch::Tensor quantile_loss(const torch::Tensor& prediction, const torch::Tensor& target) {
  constexpr std::array<double, quantile_count> levels{0.1, 0.5, 0.9};
  torch::Tensor sum = torch::zeros({}, target.options());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const torch::Tensor error =  // (B, 1, P, P)
        target - prediction.narrow(1, static_cast<std::int64_t>(i), 1);
    sum = sum + ((levels[i] - (error < 0).to(error.scalar_type())) * error).mean();
  }
  return sum / static_cast<double>(quantile_count);
}

void add_network_options(CLI::App& app, NetworkOptions& options) {
  app.add_option("--patch", options.patch, "Side of the square patches in grid points")
      ->check(steps::multiple_of(patch_divisor, std::int64_t{1} << 14));
  app.add_option("--activation", options.activation_name, "relu, or leaky_relu with slope 0.3")
      ->check(CLI::IsMember({"relu", "leaky_relu"}));
}

void check_batch_size(const NetworkOptions& options, std::int64_t batch_size) {
  if (batch_size > 1 || options.patch > patch_divisor)
    return;
  throw steps::UsageError(
      fmt::format("one patch of side {} leaves one value per channel to normalise over",
                  options.patch),
      fmt::format("use --batch-size 2 or more, or --patch {} or more", 2 * patch_divisor));
}

}  // namespace bench::ap1
