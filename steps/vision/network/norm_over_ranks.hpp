#pragma once

#include "harness/communicator.hpp"
#include "harness/torch_all.hpp"
#include "vision/network/layers.hpp"

namespace bench::vision {

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

}  // namespace bench::vision
