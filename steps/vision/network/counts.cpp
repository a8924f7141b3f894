#include "vision/network/counts.hpp"

#include "vision/network/layers.hpp"

#include <algorithm>
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
                             .output = {output.height, output.width},
                             .bias = c.bias});
  }
  void operator()(const Normalisation& n) const {
    counts.cost.normalisation({.channels = input.channels, .scale = n.scale});
    counts.fewest_normalised_pixels =
        std::min(counts.fewest_normalised_pixels.value_or(input.pixels()), input.pixels());
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

Counts count(const Path& layers, const Shape& input) {
  Counts counts;
  CostOf::add(counts, layers, input);
  counts.cost.input({input.channels, input.height, input.width});
  return counts;
}

}  // namespace bench::vision
