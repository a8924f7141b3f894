#include "cosmoflow/network.hpp"

#include "harness/cost.hpp"
#include "harness/keras.hpp"

#include <cstddef>
#include <cstdint>

#include <fmt/core.h>

namespace bench::cosmoflow {
namespace {

constexpr std::array<std::int64_t, 3> dense_widths{128, 64, target_count};

namespace keras = steps::keras;

/// In place: no layer before it needs its own output for its gradient.
torch::Tensor activated(torch::Tensor x) {
  return torch::leaky_relu_(x, keras::leaky_relu_slope);
}

}  // namespace

CosmoFlowImpl::CosmoFlowImpl(const NetworkOptions& options) : options_(options) {
  std::int64_t in = redshift_count;
  for (const std::int64_t out : convolution_channels) {
    convolutions_.push_back(
        register_module(fmt::format("convolution{}", convolutions_.size()),
                        torch::nn::Conv3d(torch::nn::Conv3dOptions(in, out, options.kernel())
                                              .padding((options.kernel() - 1) / 2))));
    in = out;
  }
  in = flattened_size(options.size);
  for (const std::int64_t out : dense_widths) {
    dense_.push_back(
        register_module(fmt::format("dense{}", dense_.size()), torch::nn::Linear(in, out)));
    in = out;
  }
  keras::initialise(*this);
}

torch::Tensor CosmoFlowImpl::forward(const torch::Tensor& counts) {
  torch::Tensor x = torch::log1p(counts);  // (B, 4, N, N, N)
  for (torch::nn::Conv3d& convolution : convolutions_) {
    if (options_.version == Version::v0_7)  // TensorFlow's padding "same" of a kernel of side 2
      x = torch::constant_pad_nd(x, {0, 1, 0, 1, 0, 1});
    x = convolution(x);
    // The published order is the other way around. The result is the same, since the activation
    // rises, and it has an eighth of the work.
    x = activated(torch::max_pool3d(x, 2));
  }
  x = x.flatten(1);  // (B, 512 (N/32)^3)
  for (std::size_t layer = 0; layer + 1 < dense_.size(); ++layer) {
    x = activated(dense_[layer](x));
    x = torch::dropout(x, options_.dropout, is_training());
  }
  constexpr double largest_output = 1.2;
  return torch::tanh(dense_.back()(x)) * largest_output;  // (B, 4)
}

steps::Cost cost(const NetworkOptions& options) {
  steps::Cost total;
  std::int64_t side = options.size;
  total.input({redshift_count, side, side, side});
  std::int64_t in = redshift_count;
  const std::int64_t kernel = options.kernel();
  for (const std::int64_t out : convolution_channels) {
    total.convolution(
        {.in = in, .out = out, .kernel = {kernel, kernel, kernel}, .output = {side, side, side}});
    in = out;
    side /= 2;
  }
  in = flattened_size(options.size);
  for (const std::int64_t out : dense_widths) {
    total.linear({.in = in, .out = out});
    in = out;
  }
  return total;
}

torch::Tensor squared_errors(const torch::Tensor& prediction, const torch::Tensor& target) {
  return (prediction.to(target.scalar_type()) - target).square().mean(1);
}

torch::Tensor absolute_errors(const torch::Tensor& prediction, const torch::Tensor& target) {
  return (prediction.to(target.scalar_type()) - target).abs().mean(1);
}

}  // namespace bench::cosmoflow
