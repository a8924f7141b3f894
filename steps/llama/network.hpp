#pragma once

#include "harness/torch_all.hpp"
#include "transformer/attention.hpp"
#include "transformer/layers.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench::llama {

/// A decoder-only language model of the Llama family: RMSNorm before attention and MLP, rotary
/// positions over the whole head, grouped-query attention, SwiGLU, and no biases.
///
/// Source: Touvron et al., LLaMA (arXiv:2302.13971), section 2.2. Sizes of 8B, 70B and 405B:
/// Grattafiori et al., The Llama 3 Herd of Models (arXiv:2407.21783), table 3; those of 1B and 3B
/// are Llama 3.2's, those of 135M and 360M SmolLM's, from their published configurations. Llama 3.1
/// and 3.2 also scale the rotary frequencies for long contexts. That is left out, as it changes
/// neither parameters nor operations. 8x7B is Mixtral's: Jiang et al. (arXiv:2401.04088), table 1.
struct Architecture {
  std::string name;  ///< Of the size, or `custom`.
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t key_value_heads = 0;
  std::int64_t mlp = 0;         ///< Width inside the MLP.
  std::int64_t sequence = 0;    ///< Tokens per sample.
  std::int64_t vocabulary = 0;  ///< Rows of the embedding, padding included.
  double rotary_base = 500'000;
  bool tied_embedding = false;  ///< The embedding is also the output matrix.
  std::int64_t experts = 0;     ///< MLPs of a layer of which a token uses some; 0: one for all.
  std::int64_t experts_per_token = 0;
  double initial_deviation = 0.02;  ///< Of the first weights.

  transformer::DecoderSizes sizes() const;
  bool operator==(const Architecture&) const = default;
};

/// The names that `architecture` takes.
const std::vector<std::string>& architecture_names();

/// @throws std::invalid_argument if `name` is not one of `architecture_names()`
Architecture architecture(const std::string& name);

/// Parameters and operations of a model, computed from its sizes alone. L layers, h hidden, s
/// sequence, V vocabulary, f width of the MLP, k the width of all key/value heads. With experts, an
/// MLP of E of them has 3 E h f + E h parameters, of which a token uses 3 e h f + E h.
class Counts {
 public:
  explicit Counts(const Architecture& architecture) : a_(architecture) {}

  /// L (2 h^2 + 2 h k + 3 h f + 2 h) + h + V h, or + 2 V h if the embedding is not tied.
  std::int64_t parameters() const;
  std::int64_t active_parameters() const;     ///< Those that a token uses.
  std::int64_t embedding_parameters() const;  ///< Of the table of tokens.
  /// 3 L h f: of one MLP of each layer.
  std::int64_t parameters_per_expert() const { return 3 * a_.layers * a_.hidden * a_.mlp; }
  /// Active ones that a token is multiplied with: all but a table of tokens that is only looked up.
  std::int64_t multiplied_parameters() const;

  /// 6 (L (2 h^2 + 2 h k + 3 h f) + V h) + 6 L s h: matrix products only, and in attention only
  /// those that the causal mask leaves. The one to compare devices with. Chowdhery et al., PaLM
  /// (arXiv:2204.02311), appendix B, has 12 L s h, without the mask.
  double flops_per_token_causal() const {
    return 6 * static_cast<double>(forward_macs_per_sample()) / static_cast<double>(a_.sequence);
  }
  /// 6 N, N the active parameters without a table of tokens that is only looked up. Kaplan et al.
  /// (arXiv:2001.08361), section 2.1.
  double flops_per_token_6n() const { return 6 * static_cast<double>(multiplied_parameters()); }

  /// L (2 h^2 + 2 h k + 3 h f): multiply-adds of a token in the matrices of all layers.
  std::int64_t layer_macs_per_token() const;
  /// Multiply-adds of one forward pass, by the causal formula.
  std::int64_t forward_macs_per_sample() const {
    return a_.sizes().forward_macs(layer_macs_per_token());
  }

 private:
  /// Of a layer with so many MLPs.
  std::int64_t matrices_per_layer(std::int64_t mlps) const;
  std::int64_t parameters_with(std::int64_t mlps) const;
  std::int64_t mlps() const { return a_.experts == 0 ? 1 : a_.experts; }
  std::int64_t active_mlps() const { return a_.experts == 0 ? 1 : a_.experts_per_token; }

  Architecture a_;
};

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
