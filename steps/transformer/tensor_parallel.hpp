#pragma once

#include "harness/communicator.hpp"
#include "harness/torch_all.hpp"

#include <utility>

namespace bench::transformer {

/// x W^T + b, as torch::linear, and faster for a single row in fp32 on a CPU, which a token of one
/// sequence is: BLAS first copies a matrix that it multiplies with a matrix, and reads it only once
/// if it multiplies it with a vector.
/// @param x (..., in)
/// @param weight (out, in)
/// @param bias (out), or none
torch::Tensor product(const torch::Tensor& x, const torch::Tensor& weight,
                      const c10::optional<torch::Tensor>& bias = {});

/// A C++ value in the form in which the context of an autograd function can hold it.
template <typename T>
struct AutogradValue : torch::CustomClassHolder {
  explicit AutogradValue(T v) : value(std::move(v)) {}
  T value;
};

/// Saves a value that is not a tensor for the backward pass.
template <typename T>
void save_value(torch::autograd::AutogradContext* context, const char* name, T value) {
  context->saved_data[name] =
      c10::IValue::make_capsule(c10::make_intrusive<AutogradValue<T>>(std::move(value)));
}

/// Returns what `save_value` saved under this name, of the same type. It lives as long as the
/// context.
template <typename T>
T& saved_value(torch::autograd::AutogradContext* context, const char* name) {
  const auto capsule = context->saved_data[name].toCapsule();
  return static_cast<AutogradValue<T>*>(capsule.get())->value;
}

/// The T ranks that split the matrices of a model.
struct TensorRanks : steps::Communicator {
  TensorRanks() = default;  ///< One rank alone.
  TensorRanks(steps::Communicator ranks) : Communicator(std::move(ranks)) {}

  /// Between matrices each rank has the activations of all tokens, rather than of its slice of the
  /// sequence. For inference, where a single token cannot be split; there is no backward pass then.
  bool have_all_tokens = false;
};

// Operations of T tensor-parallel ranks. Matrices are split as in Shoeybi et al., Megatron-LM
// (arXiv:1909.08053), section 3. Activations between them are split by tokens, as in Korthikanti et
// al. (arXiv:2205.05198), section 4.2.2: rank t holds the t-th slice (B, S/T, n). Of ranks that
// have all tokens each holds (B, S, n) instead.

/// Computes x W^T + b of the whole sequence, each rank for its rows of W. Keeps only the rank's
/// slice of x for the backward pass, which gathers the sequence again.
/// @param x (B, S/T, in)
/// @param weight (out/T, in)
/// @param bias (out/T), or none
/// @returns (B, S, out/T)
torch::Tensor column_parallel(const torch::Tensor& x, const torch::Tensor& weight,
                              const c10::optional<torch::Tensor>& bias, const TensorRanks& group);

/// Sums x over the ranks.
/// @param x (B, S, n)
/// @returns the rank's slice of the sequence, (B, S/T, n)
torch::Tensor sum_of_ranks(const torch::Tensor& x, const TensorRanks& group);

// Embedding and loss of T ranks that split the vocabulary: rank t holds the t-th V/T tokens.
// Shoeybi et al., Megatron-LM (arXiv:1909.08053), section 3.

/// Looks up rows of the embedding.
/// @param tokens (B, S) int64, below V
/// @param table (V/T, n)
/// @returns (B, S/T, n), or (B, S, n) if the ranks have all tokens
torch::Tensor vocab_parallel_embedding(const torch::Tensor& tokens, const torch::Tensor& table,
                                       const TensorRanks& group);

/// The tokens with the highest scores, the same on all ranks: (B, V/T) -> (B, 1) int64.
torch::Tensor most_likely_tokens(const torch::Tensor& scores, const steps::Communicator& group);

/// Mean cross-entropy of the next tokens in fp32, the same on all ranks. Besides the scores it
/// keeps one copy of them in fp32, which becomes their gradient; LibTorch's cross-entropy keeps
/// three.
/// @param scores (B, S, V/T)
/// @param tokens (B, S + 1) int64: the inputs, and the token that follows them
torch::Tensor next_token_loss(const torch::Tensor& scores, const torch::Tensor& tokens,
                              const steps::Communicator& group = {});

}  // namespace bench::transformer
