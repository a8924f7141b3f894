#pragma once

#include "harness/torch_all.hpp"
#include "vision/network/layers.hpp"

namespace bench::vision {

/// A network as its table has it, for images of one size: (B, C, H, W) -> what its last layer
/// gives, (B, outputs) of a Linear.
///
/// Weights begin alike in all networks. Convolutions: normal after He et al. (arXiv:1502.01852), by
/// fan out before a normalisation, as torchvision has it, and by fan in where nothing else keeps
/// the scale of the signal; their biases 0. Normalisations: factor 1, summand 0. Fully connected
/// layers: weights and biases uniform within 1/sqrt(inputs), LibTorch's own.
class NetworkImpl : public torch::nn::Module {
 public:
  /// @param input of which every layer leaves something
  NetworkImpl(const Path& layers, const Shape& input);
  torch::Tensor forward(const torch::Tensor& images);

 private:
  torch::nn::Sequential layers_;
};
TORCH_MODULE(Network);

}  // namespace bench::vision
