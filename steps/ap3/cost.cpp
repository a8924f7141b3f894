#include "ap3/cost.hpp"

#include "ap3/cnn.hpp"
#include "ap3/column.hpp"
#include "ap3/lstm.hpp"
#include "harness/cost.hpp"

#include <cstddef>
#include <cstdint>

namespace bench::ap3 {
namespace {

steps::Cost cost_of_input() {
  return steps::Cost()
      .input({scalar::count})
      .input({layer_count, layer::count})
      .input({half_level_count, half_level::count})
      .input({interface_count})
      .input({half_level_count});
}

void add_convolution(steps::Cost& cost, std::int64_t in, std::int64_t out) {
  cost.convolution(
      {.in = in, .out = out, .kernel = {CnnSizes::kernel}, .output = {half_level_count}});
}

}  // namespace

steps::Cost cnn_cost() {
  using Sizes = CnnSizes;
  steps::Cost cost = cost_of_input();
  std::int64_t inputs = Sizes::features;
  for (std::size_t i = 0; i < Sizes::dilations.size(); ++i) {
    add_convolution(cost, inputs, Sizes::channels);
    inputs = Sizes::channels;
  }
  add_convolution(cost, Sizes::channels, 1);
  add_convolution(cost, Sizes::channels, Sizes::flux_channels);
  inputs = half_level_count * Sizes::flux_channels + scalar::count;
  for (std::int64_t i = 0; i < Sizes::dense_layers; ++i) {
    cost.linear({.in = inputs, .out = Sizes::dense_width});
    inputs = Sizes::dense_width;
  }
  return cost.linear({.in = inputs, .out = 2});
}

steps::Cost lstm_cost() {
  using Sizes = LstmSizes;
  const auto add_lstm = [](steps::Cost& cost, std::int64_t inputs, std::int64_t steps) {
    cost.lstm({.inputs = inputs, .hidden = Sizes::hidden, .steps = steps, .bias_vectors = 1});
  };
  steps::Cost cost = cost_of_input();
  add_lstm(cost, Sizes::features, layer_count);
  for (int surface_state = 0; surface_state < 2; ++surface_state)
    cost.linear({.in = 2 * Sizes::hidden + scalar::albedos, .out = Sizes::hidden});
  add_lstm(cost, Sizes::hidden + 1, half_level_count);
  add_lstm(cost, 2 * Sizes::hidden + 1, half_level_count);
  return cost.linear({.in = Sizes::hidden, .out = 2, .positions = half_level_count});
}

steps::Cost reading_cost() {
  return cost_of_input();
}

}  // namespace bench::ap3
