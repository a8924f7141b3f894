#pragma once

#include "harness/torch_all.hpp"
#include "transformer/tensor_ranks.hpp"
#include "transformer/weight_init.hpp"

#include <cstdint>
#include <vector>

namespace bench::transformer {

/// Shape over all ranks, and first weights, of a linear layer.
struct LinearOptions {
  std::int64_t in = 0;
  std::int64_t out = 0;
  double deviation = 0;  ///< Weights begin as N(0, deviation^2), the bias as 0.
  bool bias = true;
};

/// x W^T + b: (B, S/T, in) -> (B, S, out/T). The T ranks split the rows of W and b.
class ColumnLinearImpl : public torch::nn::Module {
 public:
  /// @param number of the weights in the model, for `WeightInit`
  /// @param stacked number of equal matrices that W has on top of each other. Each rank holds its
  ///        rows of every one, so its result splits into the same parts as the whole.
  ColumnLinearImpl(const WeightInit& init, std::uint64_t number, const LinearOptions& options,
                   std::int64_t stacked = 1);
  torch::Tensor forward(const torch::Tensor& x);

  std::int64_t stacked() const { return stacked_; }

 private:
  TensorRanks group_;
  std::int64_t stacked_;
  torch::Tensor weight_;  // (out/T, in)
  torch::Tensor bias_;    // (out/T), or undefined
};
TORCH_MODULE(ColumnLinear);

/// x W^T + b: (B, S, in/T) -> (B, S/T, out). The T ranks split the columns of W.
class RowLinearImpl : public torch::nn::Module {
 public:
  /// @param number of the weights in the model, for `WeightInit`
  RowLinearImpl(const WeightInit& init, std::uint64_t number, const LinearOptions& options);
  torch::Tensor forward(const torch::Tensor& x);

  /// Parameters that every rank holds whole: the bias, if there is one.
  std::vector<torch::Tensor> whole_parameters() const;

 private:
  TensorRanks group_;
  torch::Tensor weight_;  // (out, in/T)
  torch::Tensor bias_;    // (out), or undefined
};
TORCH_MODULE(RowLinear);

}  // namespace bench::transformer
