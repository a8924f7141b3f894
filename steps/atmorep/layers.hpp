#pragma once

#include "atmorep/sizes.hpp"
#include "harness/torch_all.hpp"
#include "transformer/norm.hpp"

#include <cstdint>
#include <vector>

namespace bench::atmorep {

/// x W^T + b. Weights begin as U(-1/sqrt(in), 1/sqrt(in)), LibTorch's own, but on any device: on
/// the meta device a network takes no memory.
class DenseImpl : public torch::nn::Module {
 public:
  struct Options {
    std::int64_t in = 0;
    std::int64_t out = 0;
    bool bias = true;
  };
  DenseImpl(const Options& options, const torch::TensorOptions& tensors);
  torch::Tensor forward(const torch::Tensor& x);

  torch::Tensor weight;  ///< (out, in)
  torch::Tensor bias;    ///< (out), or undefined
};
TORCH_MODULE(Dense);

/// What all layers of a network have in common.
struct LayerOptions {
  Sizes sizes;
  double dropout = 0;            ///< Share of the numbers that a training step sets to 0.
  torch::TensorOptions tensors;  ///< Format and device of the parameters.
};

/// A normalisation without parameters, over the last dimension.
torch::Tensor normalised(const torch::Tensor& x);

/// x + GELU(W2 dropout(GELU(W1 normalised(x)))): (..., width) -> (..., width).
class MlpImpl : public torch::nn::Module {
 public:
  explicit MlpImpl(const LayerOptions& options);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  double dropout_;
  Dense widen_;
  Dense narrow_;
};
TORCH_MODULE(Mlp);

/// An ensemble of predictions of tokens: (M, width) -> (E, M, points of a token).
class TailImpl : public torch::nn::Module {
 public:
  explicit TailImpl(const LayerOptions& options);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  std::vector<transformer::LayerNorm> norms_;
  std::vector<Dense> heads_;
};
TORCH_MODULE(Tail);

}  // namespace bench::atmorep
