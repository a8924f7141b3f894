#include "ap5/layer.hpp"

#include "harness/keras.hpp"

#include <cstdint>

namespace bench::ap5 {

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

}  // namespace bench::ap5
