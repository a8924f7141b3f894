#pragma once

#include "harness/torch_all.hpp"
#include "transformer/layers.hpp"
#include "transformer/tensor_parallel.hpp"

#include <cstdint>
#include <vector>

namespace bench::transformer {

/// Takes rows to the experts that compute them, and their results back. Of E experts, rank r of T
/// holds the r-th E/T. All ranks make the same calls.
///
/// Ranks that have slices of the sequence send each other the rows (all-to-all): Lepikhin et al.,
/// GShard (arXiv:2006.16668), section 3. Ranks that have all tokens compute the rows of their
/// experts and sum the results.
class ExpertExchange {
 public:
  /// The host waits for the numbers of rows.
  /// @param counts rows of this rank for each expert, (E) int64 on the device
  ExpertExchange(const torch::Tensor& counts, const TensorRanks& ranks);

  /// Rows of each expert, of all ranks, (E) int64 on the device.
  torch::Tensor counts() const;

  /// @param rows (n, hidden), those of the first expert first
  /// @returns for each expert of this rank the rows of all ranks, (m, hidden); m may be 0
  std::vector<torch::Tensor> to_experts(const torch::Tensor& rows);

  /// @param results of the rows that `to_experts` returned
  /// @returns those of this rank's rows, in their order
  torch::Tensor to_rows(const std::vector<torch::Tensor>& results);

 private:
  TensorRanks ranks_;
  torch::Tensor all_counts_;             // (T, E); of one row if all ranks have the same tokens
  std::vector<std::int64_t> sent_;       // rows to each rank
  std::vector<std::int64_t> received_;   // rows from each rank
  std::vector<std::int64_t> of_expert_;  // rows for each expert of this rank
  torch::Tensor by_expert_;              // order of the received rows; undefined if they have it
  std::int64_t before_ = 0;              // rows for the experts of ranks before this one
};

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
