#pragma once

#include "harness/torch_all.hpp"
#include "llama/architecture.hpp"
#include "transformer/attention.hpp"
#include "transformer/experts.hpp"
#include "transformer/key_value_cache.hpp"
#include "transformer/language_model.hpp"
#include "transformer/norm.hpp"
#include "transformer/rotary.hpp"
#include "transformer/self_attention.hpp"
#include "transformer/swiglu.hpp"

#include <cstdint>
#include <vector>

namespace bench::llama {

/// What can be chosen for one and the same network.
struct ModelOptions {
  transformer::AttentionKind attention = transformer::AttentionKind::plain;
  bool recompute = false;        ///< Keep only the inputs of the layers for the backward pass.
  torch::TensorOptions tensors;  ///< Format and device of the parameters.
  std::uint64_t seed = 1;        ///< Of the first weights.
  transformer::Shard shard;
};

/// x + attention(norm(x)), then x + swiglu(norm(x)): (B, S/T, hidden) -> (B, S/T, hidden). The T
/// tensor-parallel ranks split the key/value heads, and the width of the MLP or the experts.
class LayerImpl : public torch::nn::Module {
 public:
  /// @param number of the layer in the model, from 0
  LayerImpl(const Architecture& architecture, const ModelOptions& options, std::int64_t number);
  /// @param cache as for `transformer::SelfAttention`
  torch::Tensor forward(const torch::Tensor& x, const transformer::Rotary& rotary,
                        transformer::LayerCache* cache = nullptr);

  /// Parameters that every tensor-parallel rank holds whole.
  std::vector<torch::Tensor> whole_parameters() const;
  /// Empty if the layer has one MLP for all tokens.
  const transformer::Experts& experts() const { return experts_; }

 private:
  torch::Tensor mlp(const torch::Tensor& x);

  transformer::RmsNorm attention_norm_{nullptr};
  transformer::SelfAttention attention_{nullptr};
  transformer::RmsNorm mlp_norm_{nullptr};
  transformer::SwiGlu mlp_{nullptr};       // this
  transformer::Experts experts_{nullptr};  // or these
};
TORCH_MODULE(Layer);

/// Llama, or a shard of it.
///
/// Weights begin as N(0, initial_deviation^2); those before residual sums as
/// `transformer::residual_deviation` says, as in Megatron-LM.
class LlamaImpl : public transformer::LanguageModel {
 public:
  LlamaImpl(const Architecture& architecture, const ModelOptions& options);

  torch::Tensor forward(const torch::Tensor& input) override;
  torch::Tensor next_scores(const torch::Tensor& tokens,
                            transformer::KeyValueCache& cache) override;

  /// Mean over the layers of `transformer::Experts::balance_loss`; undefined without experts.
  torch::Tensor balance_loss() const;
  /// This rank's tokens of each expert in the training, (layers, experts); undefined without.
  torch::Tensor expert_loads() const;

 private:
  void add_tables(const Architecture& architecture);
  torch::Tensor embed(const torch::Tensor& tokens) const;
  torch::Tensor scores(const torch::Tensor& x);

  ModelOptions options_;
  torch::Tensor embedding_;  // (V/T, hidden), in the first stage, and if tied in the last one
  torch::Tensor output_;     // (V/T, hidden), in the last stage; the embedding if tied
  transformer::Rotary rotary_;
  std::vector<Layer> layers_;
  transformer::RmsNorm norm_{nullptr};  // in the last stage
};
TORCH_MODULE(Llama);

}  // namespace bench::llama
