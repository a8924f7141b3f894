#pragma once

#include "atmorep/attention.hpp"
#include "atmorep/layers.hpp"
#include "harness/torch_all.hpp"

#include <vector>

namespace bench::atmorep {

/// A layer of the encoders of all fields: (F, B, N, width) -> (F, B, N, width). Each field attends
/// to what the others were before the layer.
class EncoderLayerImpl : public torch::nn::Module {
 public:
  explicit EncoderLayerImpl(const LayerOptions& options);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  std::vector<CoupledAttention> attention_;
  std::vector<Mlp> mlp_;
};
TORCH_MODULE(EncoderLayer);

/// A layer of the decoders of all fields, which know nothing of each other.
class DecoderLayerImpl : public torch::nn::Module {
 public:
  explicit DecoderLayerImpl(const LayerOptions& options);
  /// @param pair the tokens, and those that the encoder had: (2, F, B, N, width)
  /// @returns (F, B, N, width)
  torch::Tensor forward(const torch::Tensor& pair);

 private:
  std::vector<DecoderAttention> attention_;
  std::vector<Mlp> mlp_;
};
TORCH_MODULE(DecoderLayer);

}  // namespace bench::atmorep
