#pragma once

#include "gpt/architecture.hpp"
#include "gpt/attention.hpp"
#include "gpt/linear.hpp"
#include "harness/communicator.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace bench::gpt {

/// Which part of a model this rank has.
struct Part {
  steps::Communicator tensor;  ///< Ranks that share the matrices.
  std::int64_t stage = 0;      ///< Of the pipeline: an equal share of the layers.
  std::int64_t stages = 1;

  bool is_first() const { return stage == 0; }
  bool is_last() const { return stage == stages - 1; }
};

/// What can be chosen for one and the same network.
struct ModelOptions {
  AttentionKind attention = AttentionKind::blocked;
  double attention_dropout = 0;
  double hidden_dropout = 0;
  bool gelu_by_tanh = false;     ///< GPT-2's approximation; else by erf.
  bool recompute = false;        ///< Keep only the inputs of the layers for the backward pass.
  torch::TensorOptions tensors;  ///< Format and device of the parameters.
  std::uint64_t seed = 1;        ///< Of the first weights.
  Part part;
};

/// x + attention(norm(x)), then x + mlp(norm(x)): (B, S/T, hidden) -> (B, S/T, hidden), each of the
/// T tensor-parallel ranks with some of the heads, and some of the width of the MLP.
class LayerImpl : public torch::nn::Module {
 public:
  /// @param number of the layer in the model, from 0
  LayerImpl(const Architecture& architecture, const ModelOptions& options, std::int64_t number);
  /// @param rotary null where positions are learned
  torch::Tensor forward(const torch::Tensor& x, const Rotary* rotary);

  /// The parameters that every tensor-parallel rank has as a whole.
  std::vector<torch::Tensor> whole_parameters() const;

 private:
  torch::Tensor attend(const torch::Tensor& x, const Rotary* rotary);

  std::int64_t head_size_;
  ModelOptions options_;
  Norm attention_norm_;
  ColumnLinear queries_keys_values_;  // columns in the order of head, then [q, k, v]
  RowLinear projection_;
  Norm mlp_norm_;
  ColumnLinear mlp_up_;
  RowLinear mlp_down_;
};
TORCH_MODULE(Layer);

/// A model, or the part of it that a rank has.
///
/// Weights begin as N(0, initial_deviation^2), those in front of the residual sums divided by
/// sqrt(2 layers): Radford et al. 2019, section 2.3.
class GptImpl : public torch::nn::Module {
 public:
  GptImpl(const Architecture& architecture, const ModelOptions& options);

  /// With T tensor-parallel ranks and a vocabulary of V:
  /// @param input tokens (B, S) int64 in the first stage, else what the stage before returned
  /// @returns (B, S/T, hidden); in the last stage the scores of the token that follows each,
  ///          (B, S, V/T)
  torch::Tensor forward(const torch::Tensor& input);

  /// The parameters that every tensor-parallel rank has as a whole. The backward pass leaves in
  /// them the gradient of a rank's part of the sequence; theirs is the sum over the ranks.
  const std::vector<torch::Tensor>& whole_parameters() const { return whole_parameters_; }

  /// (V/T, hidden) in the first and in the last stage, undefined in others. Its gradient is the sum
  /// over both.
  const torch::Tensor& embedding() const { return embedding_; }

 private:
  void add_tables(const WeightInit& init);
  torch::Tensor embed(const torch::Tensor& tokens);

  Architecture architecture_;
  ModelOptions options_;
  torch::Tensor embedding_;
  torch::Tensor positions_;  // (sequence, hidden); undefined where they are rotary
  std::optional<Rotary> rotary_;
  std::vector<Layer> layers_;
  Norm norm_;  // of the last stage
  std::vector<torch::Tensor> whole_parameters_;
};
TORCH_MODULE(Gpt);

/// Mean cross-entropy of the next tokens, fp32.
/// @param scores (B, S, V/T)
/// @param tokens (B, S + 1): those that were seen, and one more
/// @param group the T ranks that share the scores
torch::Tensor next_token_loss(const torch::Tensor& scores, const torch::Tensor& tokens,
                              const steps::Communicator& group = {});

}  // namespace bench::gpt
