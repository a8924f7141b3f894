#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>

namespace bench::ap5 {

/// A 3x3 convolution, a batch normalisation as in Keras, and swish.
class LayerImpl : public torch::nn::Module {
 public:
  /// @param stride 1 keeps height and width, 2 halves them (an odd one rounded up). The padding is
  ///        that of TensorFlow's `same`: what is odd lies at the right and below.
  LayerImpl(std::int64_t in, std::int64_t out, std::int64_t stride = 1);
  /// @param x (B, in, H, W)
  /// @returns (B, out, H, W) or (B, out, ceil(H / 2), ceil(W / 2))
  torch::Tensor forward(const torch::Tensor& x);

  /// The weights of the convolution become normal after He.
  void initialise_after_he();

 private:
  torch::nn::Conv2d convolution_;
  torch::nn::BatchNorm2d norm_;
};
TORCH_MODULE(Layer);

}  // namespace bench::ap5
