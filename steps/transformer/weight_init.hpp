#pragma once

#include "harness/torch_all.hpp"
#include "transformer/tensor_ranks.hpp"

#include <cstdint>

namespace bench::transformer {

/// Draws the first weights of a model from N(0, deviation^2). On the meta device tensors have no
/// values.
///
/// A parameter has a number in the model, and so its own random stream: every shard begins with the
/// weights that the whole model has there. They are drawn in fp32, so all formats begin alike.
struct WeightInit {
  std::uint64_t seed = 1;
  torch::TensorOptions tensors;  ///< Format and device of the parameters.
  TensorRanks group;             ///< Those that split the matrices.

  /// A matrix that every rank holds whole.
  torch::Tensor whole(std::uint64_t number, std::int64_t rows, std::int64_t columns,
                      double deviation) const;
  /// This rank's rows of a matrix: (rows/T, columns).
  /// @param stacked equal matrices on top of each other, each of which the ranks split
  torch::Tensor split_rows(std::uint64_t number, std::int64_t rows, std::int64_t columns,
                           double deviation, std::int64_t stacked = 1) const;
  /// This rank's columns of a matrix: (rows, columns/T).
  torch::Tensor split_columns(std::uint64_t number, std::int64_t rows, std::int64_t columns,
                              double deviation) const;

 private:
  torch::Tensor draw(std::uint64_t number, torch::IntArrayRef shape, double deviation) const;
  torch::Tensor own_slice(const torch::Tensor& drawn, std::int64_t dimension) const;
};

/// Deviation of the matrices whose result is added to the residual stream, two per layer: Radford
/// et al., Language Models are Unsupervised Multitask Learners (2019), section 2.3.
double residual_deviation(double deviation, std::int64_t layers);

}  // namespace bench::transformer
