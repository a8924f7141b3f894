#pragma once

#include "harness/cost.hpp"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace bench::vision {

// The vocabulary of the tables of networks, which are in tables.cpp.

/// An image between two layers. Behind Flatten and GlobalAverage it has one pixel.
struct Shape {
  std::int64_t channels;
  std::int64_t height;  ///< In pixels; 0 where the image was too small for a layer before.
  std::int64_t width;   ///< The same.

  std::int64_t pixels() const { return height * width; }
};

/// What is added around an image of side n before a window of side k goes over it with stride s.
enum class Padding {
  none,
  half,  ///< k / 2 on all sides; the output of an odd window has side ceil(n / s).
  same,  ///< TensorFlow's SAME: to ceil(n / s), the smaller half above and left. Poolings only.
};

struct Kernel {
  std::int64_t height;
  std::int64_t width;

  // Not explicit: a table says 3 for 3x3 and {1, 7} for the few that are not square.
  Kernel(std::int64_t side) : height(side), width(side) {}
  Kernel(std::int64_t kernel_height, std::int64_t kernel_width)
      : height(kernel_height), width(kernel_width) {}
};

/// Kernels that are not square are odd and padded by half: square images stay square.
struct Convolution {
  std::int64_t out_channels;
  Kernel kernel;
  std::int64_t stride = 1;
  Padding padding = Padding::half;
  bool bias = false;  ///< Not where a normalisation follows, which brings its own.
};

/// Batch normalisation over (B, H, W), or over B behind Linear: one mean and one variance per
/// channel.
struct Normalisation {
  double epsilon = 1e-5;
  double momentum =
      0.1;            ///< Share of a new batch in the running statistics; 1 - TensorFlow's decay.
  bool scale = true;  ///< Whether the factor per channel is learnt; the summand always is.
};

struct Relu {};

struct Pooling {
  enum class Kind { maximum, average };
  Kind kind;
  std::int64_t kernel;
  std::int64_t stride;
  Padding padding = Padding::none;  ///< Pixels in it count neither as maximum nor in the average.
};

/// (B, C, H, W) -> (B, C), the mean over all pixels.
struct GlobalAverage {};

/// (B, C, H, W) -> (B, C*H*W).
struct Flatten {};

/// Fully connected, with bias: (B, inputs) -> (B, outputs). A normalisation and a ReLU may follow.
struct Linear {
  std::int64_t outputs;
};

struct Dropout {
  double rate;
};

struct Layer;
/// Layers one behind the other. An empty path hands on what it gets.
using Path = std::vector<Layer>;

/// Paths that all begin with the same input. Summed ones end in equal shapes, joined ones in equal
/// sizes; the channels of those stand in the order of the paths.
struct Branches {
  enum class Join { sum, concatenation };
  Join join;
  std::vector<Path> paths;  ///< The first is not empty: a sum is made in place of its result.
};

using AnyLayer = std::variant<Convolution, Normalisation, Relu, Pooling, GlobalAverage, Flatten,
                              Linear, Dropout, Branches>;
struct Layer : AnyLayer {
  using AnyLayer::AnyLayer;
  const AnyLayer& any() const { return *this; }
};

/// Height or width of what a window gives; 0 where it does not fit into the padded image.
std::int64_t output_size(std::int64_t input_size, std::int64_t kernel, std::int64_t stride,
                         Padding padding);

Shape output_shape(const Layer& layer, const Shape& input);
Shape output_shape(const Path& path, const Shape& input);

/// Cost of a network, computed from its table alone.
struct Counts {
  steps::Cost cost;
  /// Pixels of the smallest image that is normalised; empty where none is.
  std::optional<std::int64_t> fewest_normalised_pixels;
};

/// @param input of which every layer leaves something
Counts count(const Path& layers, const Shape& input);

}  // namespace bench::vision
