#pragma once

#include "harness/torch_all.hpp"
#include "transformer/swiglu.hpp"
#include "transformer/tensor_ranks.hpp"
#include "transformer/weight_init.hpp"

#include <cstdint>
#include <vector>

namespace bench::transformer {

/// A mixture of SwiGLU experts: (B, S/T, hidden) -> (B, S/T, hidden). A token goes to the experts
/// for which the router's scores are highest, and gets the mean of their results, weighted with the
/// softmax of these scores: Jiang et al., Mixtral of Experts (arXiv:2401.04088), section 2.1.
///
/// Each of the T tensor-parallel ranks holds an equal share of the experts, whole, to which all
/// ranks send their tokens. No token is dropped.
class ExpertsImpl : public torch::nn::Module {
 public:
  /// @param number of the first of 1 + 2 `count` weight matrices in the model, for `WeightInit`
  /// @param count of experts, a multiple of T, of which each token uses `per_token`
  /// @param deviation, down_deviation as of `SwiGlu`; the router has the first
  ExpertsImpl(const WeightInit& init, std::uint64_t number, std::int64_t count,
              std::int64_t per_token, std::int64_t hidden, std::int64_t width, double deviation,
              double down_deviation);
  torch::Tensor forward(const torch::Tensor& x);

  /// Parameters that every rank holds whole: the router.
  std::vector<torch::Tensor> whole_parameters() const { return {router_}; }
  /// count * sum of f_i P_i over the experts i, of the last forward pass in training: f_i is the
  /// expert's share of the assignments of all ranks, P_i its mean probability for the tokens of
  /// this rank. Its mean over the ranks is 1 where both are equal for all. Fedus et al., Switch
  /// Transformers (arXiv:2101.03961), equations 4 to 6.
  const torch::Tensor& balance_loss() const { return balance_loss_; }
  /// Tokens of this rank for each expert in all forward passes in training, int64 (count).
  const torch::Tensor& loads() const { return loads_; }

 private:
  TensorRanks ranks_;
  std::int64_t per_token_;
  torch::Tensor router_;         // (count, hidden)
  std::vector<SwiGlu> experts_;  // those of this rank
  torch::Tensor balance_loss_;
  torch::Tensor loads_;
};
TORCH_MODULE(Experts);

}  // namespace bench::transformer
