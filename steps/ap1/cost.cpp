#include "ap1/cost.hpp"

#include "ap1/network.hpp"
#include "ap1/sample.hpp"
#include "harness/cost.hpp"

#include <cstddef>
#include <cstdint>

namespace bench::ap1 {
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

}  // namespace bench::ap1
