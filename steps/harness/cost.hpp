#pragma once

#include <cstdint>
#include <vector>

namespace bench::steps {

/// Cost of one sample of a network, summed layer by layer from sizes alone: no tensor is allocated,
/// so that a program can describe a network that does not fit into memory.
///
///     Cost()
///         .input({3, 32, 32})
///         .convolution({.in = 3, .out = 16, .kernel = {3, 3}, .output = {32, 32}, .bias = false})
///         .normalisation({.channels = 16})
///         .linear({.in = 16, .out = 10})
///         .log();
///
/// Multiply-adds (MACs) are those of convolutions and matrix products. Biases, normalisations,
/// activations and poolings cost none.
class Cost {
 public:
  /// What the network reads of a sample, without the target. Several inputs add up.
  /// @param shape without the batch
  Cost& input(const std::vector<std::int64_t>& shape, std::int64_t bytes_per_number = 4);

  struct Convolution {
    std::int64_t in;                   ///< Channels.
    std::int64_t out;                  ///< Channels.
    std::vector<std::int64_t> kernel;  ///< One extent for each of 1, 2 or 3 dimensions.
    std::vector<std::int64_t> output;  ///< As many extents.
    std::int64_t groups = 1;           ///< Divide `in` and `out`.
    bool bias = true;
  };
  /// @throws std::invalid_argument if the sizes contradict each other
  Cost& convolution(const Convolution& layer);

  struct TransposedConvolution {
    std::int64_t in;
    std::int64_t out;
    std::vector<std::int64_t> kernel;
    std::vector<std::int64_t> input;  ///< Each of its positions is multiplied by the whole kernel.
    std::int64_t groups = 1;
    bool bias = true;
  };
  /// @throws std::invalid_argument if the sizes contradict each other
  Cost& transposed_convolution(const TransposedConvolution& layer);

  struct Linear {
    std::int64_t in;
    std::int64_t out;
    bool bias = true;
    std::int64_t positions = 1;  ///< Of a sample to which the layer is applied: tokens, pixels.
  };
  Cost& linear(const Linear& layer);

  struct Normalisation {
    std::int64_t channels;
    bool scale = true;               ///< A learnt factor per channel.
    bool shift = true;               ///< A learnt summand per channel.
    bool running_statistics = true;  ///< Of a batch normalisation: mean and variance.
  };
  Cost& normalisation(const Normalisation& layer);

  struct Embedding {
    std::int64_t rows;
    std::int64_t width;
  };
  /// A look-up, without multiplications.
  Cost& embedding(const Embedding& table);

  struct Attention {
    std::int64_t heads;
    std::int64_t head_size;
    std::int64_t queries;  ///< Positions of a sample.
    std::int64_t keys;     ///< Positions of a sample.
    bool causal = false;   ///< The mask leaves half of the products.
  };
  /// The scores of the keys and the weighted sum of the values. The projections around them are
  /// `linear`.
  Cost& attention(const Attention& layer);

  struct Lstm {
    std::int64_t inputs;
    std::int64_t hidden;
    std::int64_t steps;
    std::int64_t bias_vectors;  ///< 2 are learnt by LibTorch's LSTM, 1 by Keras'.
  };
  /// One layer in one direction.
  Cost& lstm(const Lstm& layer);

  /// Anything else that is learnt and multiplies nothing: a table of positions, a class token.
  Cost& parameters(std::int64_t count);

  /// The network so far is applied to each of several parts of a sample, such as crops of it, which
  /// share its parameters.
  Cost& applied(std::int64_t times);

  std::int64_t trainable_parameters() const { return trainable_parameters_; }
  /// Running means and variances of the batch normalisations; not their step counters, nor
  /// constants.
  std::int64_t non_trainable_parameters() const { return non_trainable_parameters_; }
  std::int64_t forward_macs_per_sample() const { return forward_macs_; }
  /// 6 operations for each multiply-add of the forward pass: 2 for the multiplication and the
  /// addition, 3 because the backward pass computes a gradient for the input and one for the
  /// weights. Source: Amodei and Hernandez, AI and Compute (OpenAI 2018), appendix.
  std::int64_t training_flops_per_sample() const { return 6 * forward_macs_; }
  std::int64_t input_bytes_per_sample() const { return input_bytes_; }

  /// The five numbers as lines `name=value`.
  void log() const;

 private:
  std::int64_t trainable_parameters_ = 0;
  std::int64_t non_trainable_parameters_ = 0;
  std::int64_t forward_macs_ = 0;
  std::int64_t input_bytes_ = 0;
};

}  // namespace bench::steps
