#pragma once

#include "ap2/positions.hpp"
#include "ap2/sizes.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <vector>

namespace bench::ap2 {

/// Inputs of a forward pass that all layers use.
struct Context {
  torch::Tensor relative;       ///< (512, h): the table of relative positions, normalised.
  RelativePositions positions;  ///< On the device.
  torch::Tensor keep;           ///< bool (B, 1, 1, S): tokens that are not padding.
};

/// Attention whose scores are those of content and content, content and position, and position and
/// content. The positions go through the projections of queries and keys.
class AttentionImpl : public torch::nn::Module {
 public:
  AttentionImpl(const Sizes& sizes, double dropout);
  /// @param x (B, S, h)
  torch::Tensor forward(const torch::Tensor& x, const Context& context);

 private:
  torch::Tensor in_heads(const torch::Tensor& x) const;

  Sizes sizes_;
  double dropout_;
  torch::nn::Linear query_;
  torch::nn::Linear key_;
  torch::nn::Linear value_;
  torch::nn::Linear output_;
};
TORCH_MODULE(Attention);

/// Attention and two linear layers with GELU between them, each added to its input and then
/// normalised: (B, S, h) -> (B, S, h).
class LayerImpl : public torch::nn::Module {
 public:
  LayerImpl(const Sizes& sizes, double dropout);
  torch::Tensor forward(const torch::Tensor& x, const Context& context);

 private:
  double dropout_;
  Attention attention_;
  torch::nn::LayerNorm attention_norm_;
  torch::nn::Linear widen_;
  torch::nn::Linear narrow_;
  torch::nn::LayerNorm norm_;
};
TORCH_MODULE(Layer);

/// The network of MAELSTROM's AP2, which tells from a tweet whether it rains: a DeBERTa-v3 whose
/// first token is classified. Weights begin as N(0, 0.02^2).
///
/// Sources: He et al., DeBERTa (arXiv:2006.03654), section 3, and DeBERTaV3 (arXiv:2111.09543);
/// MAELSTROM deliverable D3.7, section on AP2.
class DebertaImpl : public torch::nn::Module {
 public:
  /// @param dropout share of the numbers that a training step sets to 0
  explicit DebertaImpl(const Sizes& sizes = {}, double dropout = 0.1);
  /// @param tokens int64 (B, S); 0 is padding, which no token attends to
  /// @returns scores of the classes, (B, 2)
  torch::Tensor forward(const torch::Tensor& tokens);

 private:
  double dropout_;
  torch::nn::Embedding words_;
  torch::nn::LayerNorm words_norm_;
  torch::Tensor relative_;  // (512, h)
  torch::nn::LayerNorm relative_norm_;
  std::vector<Layer> layers_;
  torch::nn::Linear pooler_;
  torch::nn::Linear classifier_;
  RelativePositions positions_;  // no buffers: a cast of the network would cast them, too
};
TORCH_MODULE(Deberta);

}  // namespace bench::ap2
