#pragma once

#include "harness/communicator.hpp"
#include "harness/torch_all.hpp"
#include "vision/network/tables.hpp"

#include <cstdint>

namespace bench::vision {

/// LibTorch's BatchNorm2d, (B, C, H, W) -> (B, C, H, W), or BatchNorm1d, (B, C) -> (B, C), which
/// can also normalise over ranks. It does not count its batches, so that its buffers are the
/// published ones.
class BatchNormImpl : public torch::nn::Module {
 public:
  BatchNormImpl(std::int64_t channels, const Normalisation& options);

  torch::Tensor forward(const torch::Tensor& images);

  /// From now on it normalises over these ranks while it trains, see `normalise_over_ranks`.
  /// @param ranks must outlive this object
  void set_ranks(steps::Communicator& ranks) { ranks_ = &ranks; }

  torch::Tensor weight;  ///< (C), the factor; begins as 1
  torch::Tensor bias;    ///< (C), what is added; begins as 0

 private:
  torch::Tensor running_mean_;      // (C)
  torch::Tensor running_variance_;  // (C)
  Normalisation options_;
  steps::Communicator* ranks_ = nullptr;  // Null: each rank by itself.
};
TORCH_MODULE(BatchNorm);

/// Parameters and running statistics of a batch normalisation, (C) each.
struct NormTensors {
  torch::Tensor weight;
  torch::Tensor bias;
  torch::Tensor running_mean;      ///< Updated by a forward pass.
  torch::Tensor running_variance;  ///< The same.
};

/// Batch normalisation in training whose means and variances are those of the batches of all ranks:
/// (B, C, ...) -> (B, C, ...), what one rank with all of their samples computes. Every rank has B
/// samples of the same size and makes the same calls. A forward and a backward pass exchange 2 C
/// numbers each. Gradients of the parameters are those of this rank's samples.
torch::Tensor normalise_over_ranks(const torch::Tensor& x, const NormTensors& tensors,
                                   const Normalisation& options, steps::Communicator& ranks);

/// From now on, the `BatchNorm`s of a network normalise over the ranks while they train.
/// @param ranks must outlive the network
void normalise_over_ranks(torch::nn::Module& network, steps::Communicator& ranks);

/// A network as its table has it, for images of one size: (B, C, H, W) -> what its last layer
/// gives, (B, outputs) of a Linear.
///
/// Weights begin alike in all networks. Convolutions: normal after He et al. (arXiv:1502.01852), by
/// fan out before a normalisation, as torchvision has it, and by fan in where nothing else keeps
/// the scale of the signal; their biases 0. Normalisations: factor 1, summand 0. Fully connected
/// layers: weights and biases uniform within 1/sqrt(inputs), LibTorch's own.
class NetworkImpl : public torch::nn::Module {
 public:
  /// @param input of which every layer leaves something
  NetworkImpl(const Path& layers, const Shape& input);
  torch::Tensor forward(const torch::Tensor& images);

 private:
  torch::nn::Sequential layers_;
};
TORCH_MODULE(Network);

}  // namespace bench::vision
