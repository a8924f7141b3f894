#pragma once

#include "harness/torch_all.hpp"
#include "vision/architecture.hpp"

namespace bench::vision {

/// A network for images of one size: (B, 3, S, S) -> class scores (B, classes).
///
/// Weights begin alike in all networks. Convolutions: normal after He et al. (arXiv:1502.01852), by
/// fan out before a normalisation, as torchvision has it, and by fan in where nothing else keeps
/// the scale of the signal; their biases 0. Normalisations: factor 1, summand 0. Fully connected
/// layers: weights and biases uniform within 1/sqrt(inputs), LibTorch's own.
class NetworkImpl : public torch::nn::Module {
 public:
  /// @param image_size S, at least `smallest_image_size`
  NetworkImpl(const Architecture& architecture, std::int64_t image_size);
  torch::Tensor forward(const torch::Tensor& images);

 private:
  torch::nn::Sequential layers_;
};
TORCH_MODULE(Network);

}  // namespace bench::vision
