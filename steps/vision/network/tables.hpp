#pragma once

#include "harness/cost.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace bench::vision {

// The vocabulary of the tables of networks.

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

/// The blocks of a ResNet of width w, with input x.
///
/// Sources: He et al., Deep Residual Learning for Image Recognition (arXiv:1512.03385), figure 5,
/// with the stride where torchvision has it ("v1.5"); He et al., Identity Mappings in Deep Residual
/// Networks (arXiv:1603.05027), figure 1b, with the stride where tf_cnn_benchmarks has it.
enum class ResidualBlock {
  basic,       ///< relu(3x3 w, 3x3 w + x); the first has the stride.
  bottleneck,  ///< relu(1x1 w, 3x3 w, 1x1 4w + x); the 3x3 has the stride.
  /// 1x1 w, 3x3 w, 1x1 4w + x, with normalisation and ReLU in front of each; the first 1x1 has the
  /// stride. A shortcut that changes the shape begins behind the first ReLU and is not normalised.
  preactivation,
};

/// The layers of a ResNet before its classifier, of blocks 64, 128, 256 and 512 wide. The first
/// block of each width but 64 has stride 2.
Path resnet(ResidualBlock kind, const std::array<std::int64_t, 4>& blocks_per_width);

// Networks without branches and normalisation. Their fully connected layers take all pixels that
// are left, so that the number of weights depends on the size of the images.

/// The layers before the classifier of AlexNet as tf_cnn_benchmarks has it: images 227x227, no
/// local response normalisation, one tower. Source of the widths: Krizhevsky, One weird trick
/// (arXiv:1404.5997), footnote 1.
Path alexnet();

/// The layers of VGG-16 before its classifier.
/// Source: Simonyan and Zisserman, Very Deep Convolutional Networks (arXiv:1409.1556), table 1, D.
Path vgg16();

/// The layers before the classifier of Inception v3, in the form of tf_cnn_benchmarks: without the
/// auxiliary classifier, normalisations without a learnt factor (decay 0.999, epsilon 1e-3), and
/// the 8x8 average at the end over whatever is left of images that are not 299x299.
/// Source: Szegedy et al., Rethinking the Inception Architecture for Computer Vision
/// (arXiv:1512.00567), table 1 and figures 5 to 7 and 10.
Path inception3();

/// A network for square images as a table, from which it is built and from which it is counted.
struct Architecture {
  static constexpr std::int64_t input_channels = 3;

  std::string name;
  std::int64_t image_size;  ///< Side in pixels of the images it was made for.
  Path layers;              ///< From images (B, 3, S, S) to class scores (B, classes).

  /// An image of side S.
  static Shape input(std::int64_t size) { return {input_channels, size, size}; }
};

/// The names that `make_architecture` takes.
const std::vector<std::string>& architecture_names();

/// @throws std::invalid_argument if `name` is not one of `architecture_names()`
Architecture make_architecture(const std::string& name, std::int64_t classes);

/// Side of the smallest images of which something is left behind every layer.
std::int64_t smallest_image_size(const Architecture& architecture);

}  // namespace bench::vision
