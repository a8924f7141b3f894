#include "ap4/network.hpp"

#include "ap4/sample.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

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

}  // namespace bench::ap4
