#pragma once

#include "harness/torch_all.hpp"
#include "transformer/linear.hpp"
#include "transformer/weight_init.hpp"

#include <cstdint>

namespace bench::transformer {

/// silu(x G^T) * (x U^T) D^T without biases: (B, S/T, hidden) -> (B, S/T, hidden). The T
/// tensor-parallel ranks split the width. Shazeer, GLU Variants Improve Transformer
/// (arXiv:2002.05202), equation 6.
class SwiGluImpl : public torch::nn::Module {
 public:
  /// @param number of the first of two weight matrices in the model, for `WeightInit`
  /// @param deviation of G and U
  /// @param down_deviation of D
  SwiGluImpl(const WeightInit& init, std::uint64_t number, std::int64_t hidden, std::int64_t width,
             double deviation, double down_deviation);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  ColumnLinear gate_up_;  // G stacked on U
  RowLinear down_;
};
TORCH_MODULE(SwiGlu);

}  // namespace bench::transformer
