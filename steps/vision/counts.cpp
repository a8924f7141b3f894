#include "vision/counts.hpp"

#include "vision/architecture.hpp"
#include "vision/layers.hpp"

#include <algorithm>
#include <cstdint>
#include <variant>

namespace bench::vision {
namespace {

/// Adds what one layer costs.
struct CostOf {
  Counts& counts;
  Shape input;
  Shape output;

  void operator()(const Convolution& c) const {
    counts.cost.convolution({.in = input.channels,
                             .out = c.out_channels,
                             .kernel = {c.kernel.height, c.kernel.width},
                             .output = {output.size, output.size},
                             .bias = c.bias});
  }
  void operator()(const Normalisation& n) const {
    counts.cost.normalisation({.channels = input.channels, .scale = n.scale});
    counts.smallest_normalised_size =
        std::min(counts.smallest_normalised_size.value_or(input.size), input.size);
  }
  void operator()(const Linear& l) const {
    counts.cost.linear({.in = input.channels, .out = l.outputs});
  }
  void operator()(const Branches& b) const {
    for (const Path& path : b.paths)
      add(counts, path, input);
  }
  void operator()(const Relu&) const {}
  void operator()(const Pooling&) const {}
  void operator()(const GlobalAverage&) const {}
  void operator()(const Flatten&) const {}
  void operator()(const Dropout&) const {}

  static void add(Counts& counts, const Path& path, Shape shape) {
    for (const Layer& layer : path) {
      const Shape behind = output_shape(layer, shape);
      std::visit(CostOf{counts, shape, behind}, layer.any());
      shape = behind;
    }
  }
};

}  // namespace

Counts count(const Architecture& architecture, std::int64_t image_size) {
  Counts counts;
  CostOf::add(counts, architecture.layers, {Architecture::input_channels, image_size});
  counts.cost.input({Architecture::input_channels, image_size, image_size});
  return counts;
}

}  // namespace bench::vision
