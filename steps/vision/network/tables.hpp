#pragma once

#include "vision/network/layers.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace bench::vision {

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
