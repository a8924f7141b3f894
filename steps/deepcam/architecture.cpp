#include "deepcam/architecture.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

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

}  // namespace bench::deepcam
