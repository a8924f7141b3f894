#pragma once

#include "harness/torch_all.hpp"

namespace bench::steps::keras {

// Defaults of Keras' layers that are not LibTorch's, for networks that were published in Keras.
// Source: https://keras.io/api/layers.

/// Of a batch normalisation. Its running variance remains LibTorch's unbiased one; Keras' is
/// biased.
inline constexpr double normalisation_epsilon = 1e-3;
/// Share of a new batch in the running statistics. Keras' momentum of 0.99 is the share of the old.
inline constexpr double normalisation_momentum = 0.01;
inline constexpr double leaky_relu_slope = 0.3;

/// Gives the convolutions, linear layers and LSTMs in a module Keras' initial weights: uniform
/// after Glorot and Bengio (AISTATS 2010), eq. 16, and biases of 0.
///
/// Of an LSTM the recurrent weights become orthogonal and the bias of the forget gate 1. It has one
/// bias vector in Keras and two in LibTorch: the second is frozen at 0.
void initialise(torch::nn::Module& module);

/// Keras' `he_normal`: normal with a variance of 2 / fan-in, cut at two standard deviations of the
/// distribution before the cut. Source: He et al., Delving Deep into Rectifiers (arXiv:1502.01852),
/// eq. 10.
/// @param weight (out, in, ...) of a convolution or linear layer
void he_normal(const torch::Tensor& weight);

}  // namespace bench::steps::keras
