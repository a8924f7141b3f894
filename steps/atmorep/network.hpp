#pragma once

#include "atmorep/blocks.hpp"
#include "atmorep/layers.hpp"
#include "atmorep/sizes.hpp"
#include "harness/precision.hpp"
#include "harness/torch_all.hpp"

#include <vector>

namespace bench::atmorep {

struct NetworkOptions {
  double dropout = 0.05;
  /// Keep only the inputs of layers for the backward pass, which computes them again...
  bool recompute = true;
  steps::Precision precision = steps::Precision::fp32;  ///< ... as they were: in that of the run.
};

/// AtmoRep: predicts masked tokens of several fields from the others. Each field has an encoder,
/// whose layers attend to the other fields, too, a decoder, whose layers attend to those of its
/// encoder from the last to the first, and an ensemble of heads.
///
/// Sources: Lessig et al., AtmoRep (arXiv:2308.13280), and its code (github.com/clessig/atmorep).
/// README.md says what they leave open.
class AtmoRepImpl : public torch::nn::Module {
 public:
  /// @param tensors format and device of the parameters
  AtmoRepImpl(const Sizes& sizes, const NetworkOptions& options,
              const torch::TensorOptions& tensors = {});

  /// @param tokens (F, B, N, points), masked
  /// @param info where and when the tokens are, (B, N, 8), the same for all fields
  /// @param rows of each field: the tokens to predict, in (B * N), (M)
  /// @returns of each field (E, M, points)
  std::vector<torch::Tensor> forward(const torch::Tensor& tokens, const torch::Tensor& info,
                                     const std::vector<torch::Tensor>& rows);

 private:
  torch::Tensor embedded(const torch::Tensor& tokens, const torch::Tensor& info);
  template <typename Layer>
  torch::Tensor run(const Layer& layer, const torch::Tensor& x);

  NetworkOptions options_;
  torch::Tensor positions_;  // (N, width); no buffer, which a cast of the network would cast, too
  std::vector<Dense> embed_;
  std::vector<Dense> embed_info_;
  std::vector<EncoderLayer> encoder_;
  std::vector<DecoderLayer> decoder_;
  std::vector<Tail> tails_;
};
TORCH_MODULE(AtmoRep);

}  // namespace bench::atmorep
