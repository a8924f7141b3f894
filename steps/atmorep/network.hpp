#pragma once

#include "atmorep/data.hpp"
#include "harness/cost.hpp"
#include "harness/precision.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/torch_all.hpp"
#include "transformer/layers.hpp"

#include <cstdint>
#include <vector>

namespace bench::atmorep {

/// Cuts fields into tokens. Tokens are numbered by level, time, latitude and longitude, and so are
/// the grid points in a token.
/// @param fields (B, F, L, T, H, W)
/// @returns (F, B, N, points of a token), contiguous
torch::Tensor tokens_of(const torch::Tensor& fields, const Sizes& sizes);

/// What is added to the tokens of every field to tell their places, (N, width):
///
///     even columns   sin(8 w row) / 2 + sin(w time)
///     odd columns    cos(8 w column) / 2 + cos(w level),   w = 2 pi column of the pair / width
///
/// Source: Lessig et al., AtmoRep (arXiv:2308.13280), and its code (github.com/clessig/atmorep),
/// where rows are numbered modulo another number of columns.
torch::Tensor harmonic_positions(const Sizes& sizes);

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

/// Attention of one field's tokens to themselves, and by one head more for each other field to the
/// tokens of that field.
class CoupledAttentionImpl : public torch::nn::Module {
 public:
  /// @param field number of the own field
  CoupledAttentionImpl(const LayerOptions& options, std::int64_t field);
  /// @param tokens of all fields, normalised, (F, B, N, width)
  /// @returns what is added to the own tokens, (B, N, width)
  torch::Tensor forward(const torch::Tensor& tokens);

 private:
  std::int64_t field_;
  std::int64_t head_size_;
  double dropout_;
  Dense queries_keys_values_ = nullptr;
  Dense other_queries_ = nullptr;  // without other fields there is none
  std::vector<Dense> other_keys_values_;
  Dense output_ = nullptr;
};
TORCH_MODULE(CoupledAttention);

/// Attention of one field's tokens in the decoder: half of the heads attend to the tokens
/// themselves, the others to those that the encoder had.
class DecoderAttentionImpl : public torch::nn::Module {
 public:
  explicit DecoderAttentionImpl(const LayerOptions& options);
  /// @param x, encoded both normalised, (B, N, width)
  /// @returns what is added to x, (B, N, width)
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& encoded);

 private:
  std::int64_t head_size_;
  double dropout_;
  Dense queries_keys_values_ = nullptr;
  Dense other_queries_ = nullptr;
  Dense other_keys_values_ = nullptr;
  transformer::LayerNorm query_norm_;  // of all heads
  transformer::LayerNorm key_norm_;
  Dense output_ = nullptr;
};
TORCH_MODULE(DecoderAttention);

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

/// Of `AtmoRep`. The heads count for as many tokens as are masked on average; what is recomputed
/// counts once.
steps::Cost cost(const Sizes& sizes, const Masking& masking);

/// The learning rate of AtmoRep's single fields, over samples. An epoch has 49,152 of them. The
/// rate rises for two epochs, then falls by a factor of 1.025 in each, to a lowest one.
steps::RateSchedule default_schedule();

/// Scalars. Means over the masked tokens of each sample, then over samples and fields.
struct Loss {
  torch::Tensor total;
  torch::Tensor squared_error;  ///< Of the ensemble's mean; no part of the total.
};

/// Half of the sum of two terms, for an observation y and an ensemble with mean m and standard
/// deviation s:
///
///     mean over the members x of (x - y)^2
///     (exp(-(y - m)^2 / (2 s^2)) - 1)^2 + sqrt(s)
///
/// The second one asks for an ensemble that contains the observation and is narrow, as the CRPS
/// does.
///
/// Source: Lessig et al., AtmoRep (arXiv:2308.13280), and its code (github.com/clessig/atmorep),
/// losses `mse_ensemble` and `stats`.
/// @param predicted of each field, (E, M, points), E at least 2
/// @returns in the precision of the targets: fp32 also with autocast
Loss loss_of(const std::vector<torch::Tensor>& predicted, const MaskedBatch& batch);

}  // namespace bench::atmorep
