#include "ap4/cost.hpp"

#include "ap4/network.hpp"
#include "ap4/sample.hpp"
#include "harness/cost.hpp"

#include <cstddef>
#include <cstdint>

namespace bench::ap4 {
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

}  // namespace bench::ap4
