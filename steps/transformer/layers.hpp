#pragma once

#include "harness/torch_all.hpp"
#include "transformer/tensor_parallel.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace bench::transformer {

/// Sizes of a decoder-only language model.
struct DecoderSizes {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;           ///< Width of the residual stream.
  std::int64_t heads = 0;            ///< Of the queries; they share `hidden`.
  std::int64_t key_value_heads = 0;  ///< A divisor of `heads`.
  std::int64_t mlp = 0;              ///< Width inside the MLP.
  std::int64_t sequence = 0;         ///< Tokens per sample.
  std::int64_t vocabulary = 0;       ///< Rows of the embedding, padding included.

  std::int64_t head_size() const { return hidden / heads; }
  /// Query heads that share a key/value head.
  std::int64_t heads_per_group() const { return heads / key_value_heads; }
  /// Multiply-adds of a sample's forward pass: matrix products only, and in attention only those
  /// that the causal mask leaves.
  /// @param layer_macs of a token in the matrices of all layers
  std::int64_t forward_macs(std::int64_t layer_macs) const {
    return sequence * (layer_macs + vocabulary * hidden + layers * sequence * hidden);
  }
};

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

/// Returns `work(x)` and keeps only x for the backward pass, which computes `work(x)` again with
/// the same random numbers. Chen et al., Training Deep Nets with Sublinear Memory Cost
/// (arXiv:1604.06174).
/// @param work may use parameters; their gradients are accumulated as usual
torch::Tensor recomputed(const std::function<torch::Tensor(const torch::Tensor&)>& work,
                         const torch::Tensor& x);

}  // namespace bench::transformer
