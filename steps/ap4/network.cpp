#include "ap4/network.hpp"

#include "ap4/data.hpp"
#include "harness/arguments.hpp"
#include "harness/cost.hpp"
#include "harness/errors.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::ap4 {
namespace {

namespace functional = torch::nn::functional;

torch::nn::Conv2d convolution(std::int64_t in, std::int64_t out) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).padding(1));
}

/// In place: no layer before it needs its own output for its gradient.
torch::Tensor activate(torch::Tensor x) {
  return torch::relu_(x);
}

}  // namespace

BlockImpl::BlockImpl(std::int64_t in, std::int64_t middle, std::int64_t out)
    : first_(register_module("first", convolution(in, middle))),
      first_norm_(register_module("first_norm", torch::nn::BatchNorm2d(middle))),
      second_(register_module("second", convolution(middle, out))),
      second_norm_(register_module("second_norm", torch::nn::BatchNorm2d(out))) {}

torch::Tensor BlockImpl::forward(const torch::Tensor& x) {
  const torch::Tensor first = activate(first_norm_(first_(x)));  // (B, middle, H, W)
  return activate(second_norm_(second_(first)));                 // (B, out, H, W)
}

torch::Tensor join_enlarged(const torch::Tensor& x, const torch::Tensor& skip) {
  torch::Tensor enlarged =
      torch::upsample_bilinear2d(x, {2 * x.size(2), 2 * x.size(3)}, /*align_corners=*/false);
  if (const std::int64_t missing = skip.size(2) - enlarged.size(2); missing > 0)
    enlarged = functional::pad(
        enlarged, functional::PadFuncOptions({0, 0, missing, 0}).mode(torch::kReplicate));
  return torch::cat({skip, enlarged}, 1);
}

UNetImpl::UNetImpl()
    : head_(register_module(
          "head",
          torch::nn::Conv2d(
              torch::nn::Conv2dOptions(level_channels.front(), output_count, 3).padding(1)))) {
  std::int64_t channels = predictor_count;
  for (std::size_t level = 0; level < level_channels.size(); ++level) {
    const std::int64_t out = level_channels[level];
    encoder_.push_back(register_module(fmt::format("encoder{}", level), Block(channels, out, out)));
    channels = out;
  }
  for (std::size_t level = level_channels.size(); level-- > 0;) {
    const std::int64_t middle = level_channels[level];
    const std::int64_t out = level_channels[level == 0 ? 0 : level - 1];
    decoder_.push_back(
        register_module(fmt::format("decoder{}", level), Block(channels, middle, out)));
    channels = 2 * out;  // with what the encoder kept of the next level
  }
}

torch::Tensor UNetImpl::forward(torch::Tensor x) {  // (B, 14, H, W)
  std::vector<torch::Tensor> skips;                 // (B, 32, H, W), (B, 64, H/2, W/2)
  for (Block& block : encoder_) {
    if (!skips.empty())
      x = torch::max_pool2d(x, 2);
    x = block(x);
    skips.push_back(x);
  }
  skips.pop_back();
  x = decoder_.front()(x);  // (B, 64, H/4, W/4)
  for (std::size_t i = 1; i < decoder_.size(); ++i) {
    x = decoder_[i](join_enlarged(x, skips.back()));  // (B, 32, H/2, W/2), (B, 32, H, W)
    skips.pop_back();
  }
  return head_(x);  // (B, 2, H, W)
}

namespace {

void add_layer(steps::Cost& cost, std::int64_t in, std::int64_t out, const Grid& grid) {
  cost.convolution({.in = in, .out = out, .kernel = {3, 3}, .output = {grid.height, grid.width}});
}

void add_block(steps::Cost& cost, std::int64_t in, std::int64_t middle, std::int64_t out,
               const Grid& grid) {
  add_layer(cost, in, middle, grid);
  cost.normalisation({.channels = middle});
  add_layer(cost, middle, out, grid);
  cost.normalisation({.channels = out});
}

/// The grid of a level, halved that often.
Grid grid_of(const Grid& full, std::size_t level) {
  return {.height = full.height >> level, .width = full.width >> level};
}

}  // namespace

steps::Cost cost(const Grid& grid) {
  steps::Cost total;
  total.input({predictor_count, grid.height, grid.width});
  std::int64_t channels = predictor_count;
  for (std::size_t level = 0; level < level_channels.size(); ++level) {
    const std::int64_t out = level_channels[level];
    add_block(total, channels, out, out, grid_of(grid, level));
    channels = out;
  }
  for (std::size_t level = level_channels.size(); level-- > 0;) {
    const std::int64_t out = level_channels[level == 0 ? 0 : level - 1];
    add_block(total, channels, level_channels[level], out, grid_of(grid, level));
    channels = 2 * out;
  }
  add_layer(total, level_channels.front(), output_count, grid);
  return total;
}

namespace {

/// As in ENS-10's code: keeps z finite where the deviation is 0.
constexpr double epsilon = 1e-15;

}  // namespace

torch::Tensor gaussian_crps(const torch::Tensor& error, const torch::Tensor& deviation) {
  const torch::Tensor z = (error + epsilon) / (deviation + epsilon);
  const torch::Tensor density = torch::exp(-0.5 * z.square()) / std::sqrt(2 * std::numbers::pi);
  return deviation *
         (z * torch::erf(z / std::numbers::sqrt2) + 2 * density - std::numbers::inv_sqrtpi);
}

torch::Tensor crps_loss(const torch::Tensor& output, const torch::Tensor& scale,
                        const torch::Tensor& target) {
  const torch::Tensor exact = output.to(target.scalar_type());
  const torch::Tensor mean = scale.narrow(1, 0, 1);  // (B, 1, H, W)
  const torch::Tensor deviation = scale.narrow(1, 1, 1);
  // Differences first: the geopotential has few digits left behind its size of 5e4.
  const torch::Tensor error = exact.narrow(1, 0, 1) * deviation - (target - mean);
  return gaussian_crps(error, torch::exp(exact.narrow(1, 1, 1)) * deviation).mean();
}

void add_grid_options(CLI::App& app, Grid& grid) {
  constexpr std::int64_t most = std::int64_t{1} << 14;
  app.add_option("--height", grid.height, "Grid points from pole to pole")
      ->check(CLI::Range(grid_divisor, most));
  app.add_option("--width", grid.width, "Grid points along a parallel")
      ->check(steps::multiple_of(grid_divisor, most));
}

void check_grid(const Grid& grid, std::int64_t batch_size) {
  if (grid.height % grid_divisor > 1)
    throw steps::UsageError(
        fmt::format("a height of {} is not a multiple of {}, or one more", grid.height,
                    grid_divisor),
        fmt::format("use --height {}", grid.height / grid_divisor * grid_divisor));
  if (batch_size == 1 && grid.height / grid_divisor == 1 && grid.width == grid_divisor)
    throw steps::UsageError(
        fmt::format("one field of {} x {} leaves one value per channel to normalise over",
                    grid.height, grid.width),
        fmt::format("use --batch-size 2 or more, or --width {} or more", 2 * grid_divisor));
}

}  // namespace bench::ap4
