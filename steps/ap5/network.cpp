#include "ap5/network.hpp"

#include "ap5/data.hpp"
#include "harness/cost.hpp"
#include "harness/errors.hpp"
#include "harness/keras.hpp"
#include "harness/log.hpp"
#include "harness/trainer.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/core.h>

namespace bench::ap5 {
namespace {

/// Channels of each layer of the critic, which halves the resolution.
constexpr std::array<std::int64_t, 4> critic_channels{64, 128, 256, 512};
constexpr std::int64_t critic_width = 64;  ///< Of its linear layer.

constexpr double penalty_weight = 10;
constexpr double reconstruction_weight = 1000;

}  // namespace

namespace keras = steps::keras;

LayerImpl::LayerImpl(std::int64_t in, std::int64_t out, std::int64_t stride)
    : convolution_(register_module(
          "convolution",
          torch::nn::Conv2d(
              torch::nn::Conv2dOptions(in, out, 3).stride(stride).padding(stride == 1 ? 1 : 0)))),
      norm_(register_module(
          "norm", torch::nn::BatchNorm2d(torch::nn::BatchNorm2dOptions(out)
                                             .eps(keras::normalisation_epsilon)
                                             .momentum(keras::normalisation_momentum)))) {}

torch::Tensor LayerImpl::forward(const torch::Tensor& x) {
  if (convolution_->options.stride()->at(0) == 1)
    return torch::silu(norm_(convolution_(x)));
  const torch::Tensor padded = torch::constant_pad_nd(x, {x.size(3) % 2, 1, x.size(2) % 2, 1});
  return torch::silu(norm_(convolution_(padded)));
}

void LayerImpl::initialise_after_he() {
  keras::he_normal(convolution_->weight);
}

UpImpl::UpImpl(std::int64_t in, std::int64_t out)
    : enlarge_(register_module(
          "enlarge", torch::nn::Conv2d(torch::nn::Conv2dOptions(in, 4 * out, 3).padding(1)))),
      first_(register_module("first", Layer(2 * out, out))),
      second_(register_module("second", Layer(out, out))) {}

torch::Tensor UpImpl::forward(const torch::Tensor& x, const torch::Tensor& skip) {
  const torch::Tensor up = torch::pixel_shuffle(torch::silu(enlarge_(x)), 2);  // (B, out, 2H, 2W)
  return second_(first_(torch::cat({up, skip}, 1)));                           // (B, out, 2H, 2W)
}

void UpImpl::initialise_after_he() {
  first_->initialise_after_he();
  second_->initialise_after_he();
}

GeneratorImpl::GeneratorImpl()
    : second_(
          register_module("second", Layer(generator_channels.front(), generator_channels.front()))),
      temperature_(
          register_module("temperature", torch::nn::Conv2d(generator_channels.front(), 1, 1))),
      height_(register_module("height", torch::nn::Conv2d(generator_channels.front(), 1, 1))) {
  std::int64_t channels = predictor_count;
  for (std::size_t level = 0; level < generator_channels.size(); ++level) {
    encoder_.push_back(register_module(fmt::format("encoder{}", level),
                                       Layer(channels, generator_channels[level])));
    channels = generator_channels[level];
  }
  for (std::size_t level = generator_channels.size() - 1; level > 0; --level)
    decoder_.push_back(
        register_module(fmt::format("decoder{}", level - 1),
                        Up(generator_channels[level], generator_channels[level - 1])));
  steps::keras::initialise(*this);
  second_->initialise_after_he();
  for (Layer& layer : encoder_)
    layer->initialise_after_he();
  for (Up& up : decoder_)
    up->initialise_after_he();
}

torch::Tensor GeneratorImpl::forward(torch::Tensor x) {  // (B, 15, H, W)
  std::vector<torch::Tensor> skips;  // (B, 56, H, W), (B, 112, H/2, W/2), (B, 224, H/4, W/4)
  for (std::size_t level = 0; level < encoder_.size(); ++level) {
    if (level > 0)
      x = torch::max_pool2d(x, 2);
    x = encoder_[level](x);
    if (level == 0)
      x = second_(x);
    skips.push_back(x);
  }
  skips.pop_back();  // x is (B, 448, H/8, W/8)
  for (Up& up : decoder_) {
    x = up(x, skips.back());  // (B, 224, H/4, W/4), ..., (B, 56, H, W)
    skips.pop_back();
  }
  return torch::cat({temperature_(x), height_(x)}, 1);  // (B, 2, H, W)
}

CriticImpl::CriticImpl()
    : dense_(register_module("dense", torch::nn::Linear(critic_channels.back(), critic_width))),
      score_(register_module("score", torch::nn::Linear(critic_width, 1))) {
  std::int64_t channels = 1;
  for (std::size_t i = 0; i < critic_channels.size(); ++i) {
    layers_.push_back(
        register_module(fmt::format("layer{}", i), Layer(channels, critic_channels[i], 2)));
    channels = critic_channels[i];
  }
  steps::keras::initialise(*this);
  for (Layer& layer : layers_)
    layer->initialise_after_he();
}

torch::Tensor CriticImpl::forward(torch::Tensor x) {  // (B, 1, H, W)
  for (Layer& layer : layers_)
    x = layer(x);                           // (B, 64, H/2, W/2), ..., (B, 512, H/16, W/16)
  x = torch::silu(dense_(x.mean({2, 3})));  // (B, 64)
  return score_(x);                         // (B, 1)
}

namespace {

void add_layer(steps::Cost& cost, std::int64_t in, std::int64_t out, const Grid& grid) {
  cost.convolution({.in = in, .out = out, .kernel = {3, 3}, .output = {grid.height, grid.width}})
      .normalisation({.channels = out});
}

/// The grid of a level of the generator.
Grid grid_of(const Grid& full, std::size_t level) {
  return {.height = full.height >> level, .width = full.width >> level};
}

steps::Cost cost_of_generator(const Grid& grid) {
  steps::Cost cost;
  cost.input({predictor_count, grid.height, grid.width});
  std::int64_t channels = predictor_count;
  for (std::size_t level = 0; level < generator_channels.size(); ++level) {
    add_layer(cost, channels, generator_channels[level], grid_of(grid, level));
    channels = generator_channels[level];
  }
  add_layer(cost, generator_channels.front(), generator_channels.front(), grid);
  for (std::size_t level = generator_channels.size() - 1; level > 0; --level) {
    const std::int64_t out = generator_channels[level - 1];
    const Grid coarse = grid_of(grid, level);
    const Grid fine = grid_of(grid, level - 1);
    cost.convolution({.in = generator_channels[level],
                      .out = 4 * out,
                      .kernel = {3, 3},
                      .output = {coarse.height, coarse.width}});
    add_layer(cost, 2 * out, out, fine);
    add_layer(cost, out, out, fine);
  }
  for (std::int64_t i = 0; i < target_count; ++i)
    cost.convolution({.in = generator_channels.front(),
                      .out = 1,
                      .kernel = {1, 1},
                      .output = {grid.height, grid.width}});
  return cost;
}

steps::Cost cost_of_critic(Grid grid) {
  steps::Cost cost;
  cost.input({1, grid.height, grid.width});
  std::int64_t channels = 1;
  for (const std::int64_t out : critic_channels) {
    grid = {.height = (grid.height + 1) / 2, .width = (grid.width + 1) / 2};
    add_layer(cost, channels, out, grid);
    channels = out;
  }
  return cost.linear({.in = channels, .out = critic_width}).linear({.in = critic_width, .out = 1});
}

}  // namespace

WganCost::WganCost(const Grid& grid, std::int64_t critic_updates)
    : critic_updates_(critic_updates),
      generator_(cost_of_generator(grid)),
      critic_(cost_of_critic(grid)) {}

std::int64_t WganCost::training_flops_per_sample() const {
  const std::int64_t g = generator_.forward_macs_per_sample();
  const std::int64_t c = critic_.forward_macs_per_sample();
  return 2 * (critic_updates_ * (g + 12 * c) + 3 * g + 2 * c);
}

std::int64_t WganCost::step_bytes_per_sample() const {
  return (critic_updates_ + 1) * generator_.input_bytes_per_sample();
}

void WganCost::log() const {
  steps::log_value("trainable_parameters", trainable_parameters());
  steps::log_value("non_trainable_parameters", non_trainable_parameters());
  steps::log_value("generator_trainable_parameters", generator_.trainable_parameters());
  steps::log_value("critic_trainable_parameters", critic_.trainable_parameters());
  steps::log_value("generator_forward_macs_per_sample", generator_.forward_macs_per_sample());
  steps::log_value("critic_forward_macs_per_sample", critic_.forward_macs_per_sample());
  steps::log_value("training_flops_per_sample", training_flops_per_sample());
  steps::log_value("input_bytes_per_sample", generator_.input_bytes_per_sample());
}

namespace {

/// Keeps the gradient of the root finite where the critic's gradient is 0.
constexpr double epsilon = 1e-12;

}  // namespace

torch::Tensor temperature_of(const torch::Tensor& targets) {
  return targets.narrow(1, 0, 1);
}

torch::Tensor gradient_penalty(Critic& critic, const torch::Tensor& generated,
                               const torch::Tensor& real, const torch::Tensor& alpha) {
  const torch::Tensor between =
      (real + alpha * (generated - real)).detach().set_requires_grad(true);  // (B, 1, H, W)
  const torch::Tensor scores = critic(between);                              // (B, 1)
  const torch::Tensor gradient =
      torch::autograd::grad({scores}, {between}, {torch::ones_like(scores)},
                            /*retain_graph=*/true, /*create_graph=*/true)
          .front();
  const torch::Tensor norm = torch::sqrt(gradient.square().mean({1, 2, 3}) + epsilon);  // (B)
  return (norm - 1).square().mean();
}

torch::Tensor critic_loss(Critic& critic, const torch::Tensor& generated, const torch::Tensor& real,
                          const torch::Tensor& alpha) {
  const torch::Tensor distance =
      critic(generated).to(real.scalar_type()).mean() - critic(real).to(real.scalar_type()).mean();
  return distance + penalty_weight * gradient_penalty(critic, generated, real, alpha);
}

torch::Tensor critic_loss(Generator& generator, Critic& critic, const torch::Tensor& predictors,
                          const torch::Tensor& target) {
  torch::Tensor generated;
  {
    const torch::NoGradGuard no_gradient;
    generated = temperature_of(generator(predictors)).to(target.scalar_type());
  }
  const torch::Tensor alpha = torch::randn({target.size(0), 1, 1, 1}, target.options());
  return critic_loss(critic, generated, temperature_of(target), alpha);
}

torch::Tensor reconstruction_loss(const torch::Tensor& generated, const torch::Tensor& target) {
  return (generated.to(target.scalar_type()) - target).abs().mean({0, 2, 3}).sum();
}

GeneratorLoss generator_loss(Critic& critic, const torch::Tensor& generated,
                             const torch::Tensor& target) {
  const torch::Tensor reconstruction = reconstruction_loss(generated, target);
  const steps::FrozenParameters frozen(*critic);
  const torch::Tensor score = critic(temperature_of(generated)).to(target.scalar_type()).mean();
  return {.total = reconstruction_weight * reconstruction - score,
          .reconstruction = reconstruction};
}

void check_batch_size(const Grid& grid, std::int64_t batch_size) {
  constexpr std::int64_t side = std::int64_t{1} << critic_channels.size();
  if (batch_size > 1 || grid.height > side || grid.width > side)
    return;
  throw steps::UsageError(
      fmt::format("one field of {} x {} leaves the critic one value per channel to normalise over",
                  grid.height, grid.width),
      fmt::format("use --batch-size 2 or more, or --width {} or more", side + grid_divisor));
}

}  // namespace bench::ap5
