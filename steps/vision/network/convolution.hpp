#pragma once

#include "harness/torch_all.hpp"
#include "vision/network/layers.hpp"

#include <cstdint>

namespace bench::vision {

/// LibTorch's Conv2d, (B, C, H, W) -> (B, C', H', W'), and its gradients; but on a CPU the gradient
/// of its weights is one product of matrices where images have shrunk: to at most 2x2 pixels, or
/// behind a kernel of one pixel to fewer pixels, of all images together, than there are channels.
/// oneDNN goes over all of the weights for each image there, or takes longer to put their gradient
/// in order than to compute it: two to eight times as long as the product.
class ConvolutionLayerImpl : public torch::nn::Module {
 public:
  /// Weights are left as they come: whoever builds the network initialises them.
  ConvolutionLayerImpl(std::int64_t in_channels, const Convolution& shape);

  torch::Tensor forward(const torch::Tensor& images);

  torch::Tensor weight;  ///< (C', C, kernel height, kernel width)
  torch::Tensor bias;    ///< (C'); undefined where the layer has none

 private:
  bool is_product(const torch::Tensor& images) const;

  Convolution shape_;
};
TORCH_MODULE(ConvolutionLayer);

}  // namespace bench::vision
