#pragma once

#include <cstdint>
#include <vector>

namespace bench::deepcam {

/// A depthwise convolution with a 3x3 kernel, then a 1x1 convolution of all channels. No bias.
struct Separable {
  std::int64_t in;
  std::int64_t out;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  bool normalised = true;  ///< A batch normalisation follows.
};

/// A residual block of separable convolutions. There is a ReLU between two that are normalised.
/// Where the shape changes, the input is added through a 1x1 convolution and a normalisation.
struct Block {
  std::vector<Separable> layers;
  bool relu = true;  ///< Behind the sum.

  std::int64_t in() const { return layers.front().in; }
  std::int64_t out() const { return layers.back().out; }
  std::int64_t stride() const { return layers.back().stride; }
  bool changes_shape() const { return in() != out() || stride() != 1; }
};

/// Sizes of the network of MLPerf HPC's DeepCAM: DeepLabv3+ (Chen et al., arXiv:1802.02611) on a
/// modified aligned Xception, as in its reference implementation, github.com/mlcommons/hpc. The
/// image is halved four times.
///
/// @param divisor of all numbers of channels but those of the input and the classes: 1, 2, 4 or 8.
///        Other networks than the published one are for tests.
struct Architecture {
  explicit Architecture(std::int64_t divisor = 1);

  std::vector<std::int64_t> entry;  ///< Channels of two 3x3 convolutions; the first has stride 2.
  std::vector<Block> blocks;        ///< The first has the low-level features.
  std::vector<Separable> exit;      ///< Each normalised, with a ReLU.
  std::vector<std::int64_t> rates;  ///< Dilations of the parallel convolutions; 1: of kernel 1x1.
  std::int64_t context;             ///< Channels of each of them, and of the decoder.
  std::int64_t low_level;           ///< Channels to which the low-level features are reduced.
};

/// Divides height and width of an image.
inline constexpr std::int64_t size_divisor = 16;

}  // namespace bench::deepcam
