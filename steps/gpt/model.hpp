#pragma once

#include "gpt/architecture.hpp"
#include "harness/torch_all.hpp"
#include "transformer/attention.hpp"
#include "transformer/key_value_cache.hpp"
#include "transformer/language_model.hpp"
#include "transformer/linear.hpp"
#include "transformer/norm.hpp"
#include "transformer/rotary.hpp"
#include "transformer/self_attention.hpp"
#include "transformer/weight_init.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace bench::gpt {

/// What can be chosen for one and the same network.
struct ModelOptions {
  transformer::AttentionKind attention = transformer::AttentionKind::plain;
  double attention_dropout = 0;
  double hidden_dropout = 0;
  bool gelu_by_tanh = false;     ///< GPT-2's approximation; otherwise exact, by erf.
  bool recompute = false;        ///< Keep only the inputs of the layers for the backward pass.
  torch::TensorOptions tensors;  ///< Format and device of the parameters.
  std::uint64_t seed = 1;        ///< Of the first weights.
  transformer::Shard shard;
};

/// x + attention(norm(x)), then x + mlp(norm(x)): (B, S/T, hidden) -> (B, S/T, hidden). The T
/// tensor-parallel ranks split the heads and the width of the MLP.
class LayerImpl : public torch::nn::Module {
 public:
  /// @param number of the layer in the model, from 0
  LayerImpl(const Architecture& architecture, const ModelOptions& options, std::int64_t number);
  /// @param rotary null if positions are learned
  /// @param cache as for `transformer::SelfAttention`
  torch::Tensor forward(const torch::Tensor& x, const transformer::Rotary* rotary,
                        transformer::LayerCache* cache = nullptr);

  /// Parameters that every tensor-parallel rank holds whole.
  std::vector<torch::Tensor> whole_parameters() const;

 private:
  torch::Tensor dropped(const torch::Tensor& x) const;

  ModelOptions options_;
  transformer::LayerNorm attention_norm_{nullptr};
  transformer::SelfAttention attention_{nullptr};
  transformer::LayerNorm mlp_norm_{nullptr};
  transformer::ColumnLinear mlp_up_{nullptr};
  transformer::RowLinear mlp_down_{nullptr};
};
TORCH_MODULE(Layer);

/// GPT, or a shard of it.
///
/// Weights begin as N(0, initial_deviation^2); those before residual sums as
/// `transformer::residual_deviation` says.
class GptImpl : public transformer::LanguageModel {
 public:
  GptImpl(const Architecture& architecture, const ModelOptions& options);

  torch::Tensor forward(const torch::Tensor& input) override;
  torch::Tensor next_scores(const torch::Tensor& tokens,
                            transformer::KeyValueCache& cache) override;

 private:
  void add_tables(const transformer::WeightInit& init);
  /// @param first position of the first token
  torch::Tensor embed(const torch::Tensor& tokens, std::int64_t first);
  const transformer::Rotary* rotary() const { return rotary_ ? &*rotary_ : nullptr; }
  torch::Tensor scores(const torch::Tensor& x);

  Architecture architecture_;
  ModelOptions options_;
  torch::Tensor embedding_;  // (V/T, hidden), in the first and the last stage
  torch::Tensor positions_;  // (sequence, hidden); undefined if they are rotary
  std::optional<transformer::Rotary> rotary_;
  std::vector<Layer> layers_;
  transformer::LayerNorm norm_{nullptr};  // in the last stage
};
TORCH_MODULE(Gpt);

}  // namespace bench::gpt
