#pragma once

#include "harness/communicator.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>

namespace bench::gpt {

/// Draws the first weights of a model. Each parameter has a stream of random numbers of its own, so
/// that whatever part of the model a rank has begins as it does in the whole.
struct WeightInit {
  std::uint64_t seed = 1;
  torch::TensorOptions tensors;  ///< Format and device of the parameters.
  steps::Communicator group;     ///< Tensor-parallel ranks, who share what is split.

  static constexpr int whole = -1;

  /// @param number of the parameter in the model
  /// @param shape of the whole parameter
  /// @param split the dimension of which each rank has its part; or `whole`
  /// @returns N(0, deviation^2)
  torch::Tensor normal(std::uint64_t number, torch::IntArrayRef shape, double deviation,
                       int split) const;
};

/// x W^T + b: (B, S/T, in) -> (B, S, out/T), each rank with its part of the rows of W and of b.
/// Weights begin as N(0, deviation^2), the bias as 0.
class ColumnLinearImpl : public torch::nn::Module {
 public:
  ColumnLinearImpl(const WeightInit& init, std::uint64_t number, std::int64_t in, std::int64_t out,
                   double deviation);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  steps::Communicator group_;
  torch::Tensor weight_;  // (out/T, in)
  torch::Tensor bias_;    // (out/T)
};
TORCH_MODULE(ColumnLinear);

/// x W^T + b: (B, S, in/T) -> (B, S/T, out), each rank with its part of the columns of W.
class RowLinearImpl : public torch::nn::Module {
 public:
  RowLinearImpl(const WeightInit& init, std::uint64_t number, std::int64_t in, std::int64_t out,
                double deviation);
  torch::Tensor forward(const torch::Tensor& x);

  /// Which all ranks have as a whole.
  const torch::Tensor& bias() const { return bias_; }

 private:
  steps::Communicator group_;
  torch::Tensor weight_;  // (out, in/T)
  torch::Tensor bias_;    // (out)
};
TORCH_MODULE(RowLinear);

/// Normalisation over the last dimension. Ba et al. (arXiv:1607.06450).
class NormImpl : public torch::nn::Module {
 public:
  NormImpl(std::int64_t size, const torch::TensorOptions& tensors);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::Tensor weight_;  // (size), begins as 1
  torch::Tensor bias_;    // (size), begins as 0
};
TORCH_MODULE(Norm);

}  // namespace bench::gpt
