#pragma once

#include "vision/network/layers.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench::vision {

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
