#pragma once

#include "vision/layers.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench::vision {

/// A network as a table, from which the model is built and from which it is counted.
struct Architecture {
  static constexpr std::int64_t input_channels = 3;

  std::string name;
  std::int64_t image_size;  ///< Side in pixels of the images it was made for.
  Path layers;              ///< From images (B, 3, S, S) to class scores (B, classes).
};

/// The names that `make_architecture` takes.
const std::vector<std::string>& architecture_names();

/// @throws std::invalid_argument if `name` is not one of `architecture_names()`
Architecture make_architecture(const std::string& name, std::int64_t classes);

/// Side of the smallest images of which something is left behind every layer.
std::int64_t smallest_image_size(const Architecture& architecture);

}  // namespace bench::vision
