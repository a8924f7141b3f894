#pragma once

#include "gpt/architecture.hpp"
#include "gpt/attention.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace bench::gpt {

/// What can be chosen for one and the same network.
struct ModelOptions {
  AttentionKind attention = AttentionKind::blocked;
  double attention_dropout = 0;
  double hidden_dropout = 0;
  bool recompute = false;        ///< Keep only the inputs of the layers for the backward pass.
  torch::TensorOptions tensors;  ///< Format and device of the parameters.
};

/// y = x W^T + b: (..., in) -> (..., out).
class LinearImpl : public torch::nn::Module {
 public:
  /// Weights begin as N(0, deviation^2), the bias as 0.
  LinearImpl(std::int64_t in, std::int64_t out, double deviation,
             const torch::TensorOptions& tensors);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::Tensor weight_;  // (out, in)
  torch::Tensor bias_;    // (out)
};
TORCH_MODULE(Linear);

/// Normalisation over the last dimension. Ba et al. (arXiv:1607.06450).
class NormImpl : public torch::nn::Module {
 public:
  NormImpl(std::int64_t size, const torch::TensorOptions& tensors);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::Tensor weight_;  // (size), begins as 1
  torch::Tensor bias_;    // (size), begins as 0
};
TORCH_MODULE(Norm);

/// x + attention(norm(x)), then x + mlp(norm(x)): (B, S, hidden) -> (B, S, hidden).
class LayerImpl : public torch::nn::Module {
 public:
  LayerImpl(const Architecture& architecture, const ModelOptions& options);
  /// @param rotary null where positions are learned
  torch::Tensor forward(const torch::Tensor& x, const Rotary* rotary);

 private:
  torch::Tensor attend(const torch::Tensor& x, const Rotary* rotary);

  std::int64_t heads_;
  ModelOptions options_;
  Norm attention_norm_;
  Linear queries_keys_values_;  // rows in the order of head, then [q, k, v]
  Linear projection_;
  Norm mlp_norm_;
  Linear widen_;
  Linear narrow_;
};
TORCH_MODULE(Layer);

/// Tokens (B, S) int64 -> scores of the token that follows each (B, S, vocabulary).
///
/// Weights begin as N(0, initial_deviation^2), those in front of the residual sums divided by
/// sqrt(2 layers): Radford et al. 2019, section 2.3.
class GptImpl : public torch::nn::Module {
 public:
  GptImpl(const Architecture& architecture, const ModelOptions& options);
  torch::Tensor forward(const torch::Tensor& tokens);

 private:
  Architecture architecture_;
  ModelOptions options_;
  torch::Tensor embedding_;  // (vocabulary, hidden)
  torch::Tensor positions_;  // (sequence, hidden), undefined where they are rotary
  std::optional<Rotary> rotary_;
  std::vector<Layer> layers_;
  Norm norm_;
};
TORCH_MODULE(Gpt);

/// Mean cross-entropy of the next tokens, fp32.
/// @param scores (B, S, vocabulary)
/// @param tokens (B, S + 1): those that were seen, and one more
torch::Tensor next_token_loss(const torch::Tensor& scores, const torch::Tensor& tokens);

}  // namespace bench::gpt
