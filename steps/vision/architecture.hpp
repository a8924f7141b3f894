#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench::vision {

/// A convolution without bias, followed by a batch normalisation.
struct Convolution {
  std::int64_t in_channels;
  std::int64_t out_channels;
  std::int64_t kernel;
  std::int64_t stride;

  std::int64_t padding() const { return kernel / 2; }
  /// Side of the output for an input of this side.
  std::int64_t output_size(std::int64_t input_size) const {
    return (input_size + 2 * padding() - kernel) / stride + 1;
  }
};

/// A residual block: relu(path(x) + x), or relu(path(x) + shortcut(x)) where the shapes differ.
struct Block {
  std::vector<Convolution> path;
  std::optional<Convolution> shortcut;
};

/// A ResNet as a table, from which the model is built and from which it is counted.
///
/// Source: He et al., Deep Residual Learning for Image Recognition (arXiv:1512.03385), table 1,
/// in the v1.5 form of torchvision: a bottleneck has its stride on the 3x3 convolution.
struct Architecture {
  static constexpr std::int64_t input_channels = 3;
  static constexpr std::int64_t pool_kernel = 3;  ///< Max pooling behind the stem, padding 1.
  static constexpr std::int64_t pool_stride = 2;

  std::string name;
  Convolution stem;
  std::vector<Block> blocks;
  std::int64_t features;  ///< Channels behind the last block, inputs of the classifier.
  std::int64_t classes;
};

/// The names that `resnet` takes.
const std::vector<std::string>& architecture_names();

/// @throws std::invalid_argument if `name` is not one of `architecture_names()`
Architecture resnet(const std::string& name, std::int64_t classes);

/// What a model costs, computed from the table alone.
struct Counts {
  std::int64_t trainable_parameters = 0;
  /// Running means and variances of the batch normalisations; not their step counters.
  std::int64_t non_trainable_parameters = 0;
  /// Multiply-adds of convolutions and classifier in one forward pass.
  std::int64_t forward_macs_per_sample = 0;
  std::int64_t input_bytes_per_sample = 0;  ///< As fp32 pixels.
  std::int64_t final_size = 0;              ///< Side of the image behind the last block.

  /// 6 operations for each multiply-add of the forward pass: 2 for the multiplication and the
  /// addition, 3 because the backward pass computes a gradient for the input and one for the
  /// weights. Source: Amodei and Hernandez, AI and Compute (OpenAI 2018), appendix.
  std::int64_t training_flops_per_sample() const { return 6 * forward_macs_per_sample; }
};

/// @param image_size side of the square input in pixels
Counts count(const Architecture& architecture, std::int64_t image_size);

}  // namespace bench::vision
