#pragma once

#include "harness/torch_all.hpp"
#include "transformer/tensor_ranks.hpp"

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

}  // namespace bench::transformer
