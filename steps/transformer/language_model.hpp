#pragma once

#include "harness/torch_all.hpp"
#include "transformer/attention.hpp"
#include "transformer/tensor_parallel.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace bench::transformer {

/// The share of a model that a rank holds.
struct Shard {
  TensorRanks tensor;      ///< Ranks that split the matrices.
  std::int64_t stage = 0;  ///< Of the pipeline; each has an equal share of the layers.
  std::int64_t stages = 1;

  bool is_first() const { return stage == 0; }
  bool is_last() const { return stage == stages - 1; }
};

/// A decoder-only language model, or a shard of it, as training and inference see it.
class LanguageModel : public torch::nn::Module {
 public:
  /// With T tensor-parallel ranks and a vocabulary of V:
  /// @param input tokens (B, S) int64 in the first stage, otherwise the output of the previous one
  /// @returns (B, S/T, hidden); in the last stage the scores of each next token, (B, S, V/T)
  virtual torch::Tensor forward(const torch::Tensor& input) = 0;

  /// Runs tokens that follow those in a cache, and adds their keys and values to it. For a model of
  /// one stage, whose tensor-parallel ranks have all tokens.
  /// @param tokens (B, S) int64, the same on these ranks
  /// @param cache of the key/value heads of this rank
  /// @returns the scores of the token after the last, (B, V/T)
  virtual torch::Tensor next_scores(const torch::Tensor& tokens, KeyValueCache& cache) = 0;

  /// Parameters that every tensor-parallel rank holds whole. The backward pass leaves the gradient
  /// of the rank's slice of the sequence in them; the full gradient is the sum over the ranks.
  const std::vector<torch::Tensor>& whole_parameters() const { return whole_parameters_; }

  /// An embedding that is also the output matrix, (V/T, hidden), in the first and the last stage.
  /// Its gradient is the sum over both. Undefined in other stages, and if the two are not tied.
  const torch::Tensor& tied_embedding() const { return tied_embedding_; }

 protected:
  void add_whole_parameters(const std::vector<torch::Tensor>& parameters) {
    whole_parameters_.insert(whole_parameters_.end(), parameters.begin(), parameters.end());
  }
  void set_tied_embedding(torch::Tensor embedding) { tied_embedding_ = std::move(embedding); }

 private:
  std::vector<torch::Tensor> whole_parameters_;
  torch::Tensor tied_embedding_;
};

}  // namespace bench::transformer
