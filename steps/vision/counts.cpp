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
    const std::int64_t weights = input.channels * c.out_channels * c.kernel.height * c.kernel.width;
    counts.trainable_parameters += weights + (c.bias ? c.out_channels : 0);
    counts.forward_macs_per_sample += weights * output.size * output.size;
  }
  void operator()(const Normalisation& n) const {
    counts.trainable_parameters += (n.scale ? 2 : 1) * input.channels;
    counts.non_trainable_parameters += 2 * input.channels;
    counts.smallest_normalised_size =
        std::min(counts.smallest_normalised_size.value_or(input.size), input.size);
  }
  void operator()(const Linear& l) const {
    const std::int64_t weights = input.channels * l.outputs;
    counts.trainable_parameters += weights + l.outputs;
    counts.forward_macs_per_sample += weights;
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
  counts.input_bytes_per_sample = Architecture::input_channels * image_size * image_size *
                                  static_cast<std::int64_t>(sizeof(float));
  return counts;
}

}  // namespace bench::vision
