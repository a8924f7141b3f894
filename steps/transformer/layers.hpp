#pragma once

#include "harness/torch_all.hpp"
#include "transformer/tensor_parallel.hpp"

#include <cstdint>
#include <functional>
#include <vector>

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

// Normalisations over the last dimension. Each tensor-parallel rank normalises its slice of the
// sequence and holds the whole parameters, so their gradient is the sum over the ranks.

/// Ba et al., Layer Normalization (arXiv:1607.06450).
class LayerNormImpl : public torch::nn::Module {
 public:
  LayerNormImpl(std::int64_t size, const torch::TensorOptions& tensors);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::Tensor weight_;  // (size), begins as 1
  torch::Tensor bias_;    // (size), begins as 0
};
TORCH_MODULE(LayerNorm);

/// x / sqrt(mean(x^2) + 1e-5) * weight, the mean in fp32 for every format. Zhang and Sennrich, Root
/// Mean Square Layer Normalization (arXiv:1910.07467).
class RmsNormImpl : public torch::nn::Module {
 public:
  RmsNormImpl(std::int64_t size, const torch::TensorOptions& tensors);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::Tensor weight_;  // (size), begins as 1
};
TORCH_MODULE(RmsNorm);

/// Rotary positions: rotates the pair (x_i, x_{i + D/2}) of the token at position s by the angle
/// s * base^(-2i/D). Su et al., RoFormer (arXiv:2104.09864), section 3.2; with the halves of a head
/// as pairs, as in GPT-NeoX, Megatron-LM and Hugging Face's Llama.
class Rotary {
 public:
  /// @param options format and device of the rotated tensors
  Rotary(std::int64_t sequence, std::int64_t head_size, double base,
         const torch::TensorOptions& options);

  /// @param x (B, S, groups, heads, D)
  /// @param first position of the first token; `first` + S is at most `sequence`
  torch::Tensor rotate(const torch::Tensor& x, std::int64_t first = 0) const;

 private:
  torch::Tensor cosine_;  // (S, 1, 1, D/2)
  torch::Tensor sine_;
};

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

/// Returns `work(x)` and keeps only x for the backward pass, which computes `work(x)` again with
/// the same random numbers. Chen et al., Training Deep Nets with Sublinear Memory Cost
/// (arXiv:1604.06174).
/// @param work may use parameters; their gradients are accumulated as usual
torch::Tensor recomputed(const std::function<torch::Tensor(const torch::Tensor&)>& work,
                         const torch::Tensor& x);

}  // namespace bench::transformer
