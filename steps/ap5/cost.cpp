#include "ap5/cost.hpp"

#include "ap5/critic.hpp"
#include "ap5/generator.hpp"
#include "ap5/sample.hpp"
#include "harness/cost.hpp"
#include "harness/log.hpp"

#include <cstddef>
#include <cstdint>

namespace bench::ap5 {
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

}  // namespace bench::ap5
