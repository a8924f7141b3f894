#pragma once

#include "vision/network/layers.hpp"

#include <array>

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

}  // namespace bench::vision
