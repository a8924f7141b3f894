#pragma once

#include "harness/torch_all.hpp"
#include "transformer/attention.hpp"
#include "transformer/layers.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench::gpt {

/// For formulas.
inline double real(std::int64_t number) {
  return static_cast<double>(number);
}

enum class Positions {
  rotary,   ///< Su et al., RoFormer (arXiv:2104.09864), over the whole head, base 10000.
  learned,  ///< A table of `sequence` rows that is added to the embedding.
};

const char* positions_name(Positions positions);

/// A decoder-only language model in the manner of GPT-2 and Megatron-LM: normalisation before
/// attention and MLP, biases everywhere, an MLP of 4 times the width, output weights tied to the
/// embedding.
///
/// Source: Radford et al., Language Models are Unsupervised Multitask Learners (2019), section 2.3;
/// sizes of 13B and 175B: Brown et al. (arXiv:2005.14165), table 2.1; those of 800M and of the
/// padded vocabularies as the benchmarks CARAML and EPICURE run them.
struct Architecture {
  std::string name;  ///< Of the size, or `custom`.
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t sequence = 0;    ///< Tokens that the model sees at once.
  std::int64_t vocabulary = 0;  ///< Rows of the embedding, padding included.
  Positions positions = Positions::rotary;
  double initial_deviation = 0.02;  ///< Of the first weights.

  std::int64_t head_size() const { return hidden / heads; }
  transformer::DecoderSizes sizes() const;
  bool operator==(const Architecture&) const = default;
};

/// Token kinds of GPT-2's vocabulary.
inline constexpr std::int64_t gpt2_tokens = 50257;

/// The names that `architecture` takes.
const std::vector<std::string>& architecture_names();

/// @throws std::invalid_argument if `name` is not one of `architecture_names()`
Architecture architecture(const std::string& name);

/// What a model costs, computed from its sizes alone.
///
/// The formulas for operations are of one training iteration, divided by its tokens; c counts the
/// passes: 3 for forward and the two gradients, 4 where the backward pass computes the forward pass
/// again. L layers, h hidden, s sequence, V vocabulary.
class Counts {
 public:
  explicit Counts(const Architecture& architecture) : a_(architecture) {}

  std::int64_t parameters() const;
  std::int64_t embedding_parameters() const;  ///< Of the table of tokens.
  std::int64_t position_parameters() const;   ///< Of the table of positions, if there is one.
  /// Those that a token is multiplied with, all but the positions.
  std::int64_t multiplied_parameters() const { return parameters() - position_parameters(); }

  /// 24 c L h^2 (1 + s / 6h + V / 16Lh). Narayanan et al., Efficient Large-Scale Language Model
  /// Training on GPU Clusters Using Megatron-LM (arXiv:2104.04473), section 5.1 and appendix.
  double flops_per_token_narayanan(int passes) const;
  /// 12 L h^2 (1 + n_kv/n_q + s/h + ffn/h + V / 2Lh), with n_kv = n_q and ffn = 4h: what
  /// Megatron-LM itself prints.
  double flops_per_token_megatron() const;
  /// 6 (12 L h^2 + V h) + 6 L s h: matrix products only, and in attention only those that the
  /// causal mask leaves. The one to compare devices with.
  double flops_per_token_causal() const {
    return 6 * real(forward_macs_per_sample()) / real(a_.sequence);
  }
  /// 6 N, N the parameters without the positions. Kaplan et al. (arXiv:2001.08361), section 2.1.
  double flops_per_token_6n() const { return 6 * real(multiplied_parameters()); }

  /// 12 L h^2: multiply-adds of a token in the matrices of all layers.
  std::int64_t layer_macs_per_token() const { return 12 * a_.layers * a_.hidden * a_.hidden; }
  /// Multiply-adds of one forward pass, by the causal formula.
  std::int64_t forward_macs_per_sample() const {
    return a_.sizes().forward_macs(layer_macs_per_token());
  }

 private:
  Architecture a_;
};

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
