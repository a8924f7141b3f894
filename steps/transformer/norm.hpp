#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>

namespace bench::transformer {

// Normalisations over the last dimension. Each tensor-parallel rank normalises its slice of the
// sequence and holds the whole parameters, so their gradient is the sum over the ranks.

/// Ba et al., Layer Normalization (arXiv:1607.06450).
class LayerNormImpl : public torch::nn::Module {
 public:
  LayerNormImpl(std::int64_t size, const torch::TensorOptions& tensors);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::Tensor weight_;  // (size), begins as 1
  torch::Tensor bias_;    // (size), begins as 0
};
TORCH_MODULE(LayerNorm);

/// x / sqrt(mean(x^2) + 1e-5) * weight, the mean in fp32 for every format. Zhang and Sennrich, Root
/// Mean Square Layer Normalization (arXiv:1910.07467).
class RmsNormImpl : public torch::nn::Module {
 public:
  RmsNormImpl(std::int64_t size, const torch::TensorOptions& tensors);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::Tensor weight_;  // (size), begins as 1
};
TORCH_MODULE(RmsNorm);

}  // namespace bench::transformer
