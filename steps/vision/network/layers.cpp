#include "vision/network/layers.hpp"

#include <algorithm>
#include <cstdint>
#include <variant>

namespace bench::vision {
namespace {

/// The shape behind one layer; an image without pixels stays one behind all of them.
struct ShapeBehind {
  Shape input;

  Shape operator()(const Convolution& c) const {
    return {c.out_channels, output_size(input.height, c.kernel.height, c.stride, c.padding),
            output_size(input.width, c.kernel.width, c.stride, c.padding)};
  }
  Shape operator()(const Pooling& p) const {
    return {input.channels, output_size(input.height, p.kernel, p.stride, p.padding),
            output_size(input.width, p.kernel, p.stride, p.padding)};
  }
  Shape operator()(const GlobalAverage&) const { return one_pixel(input.channels); }
  Shape operator()(const Flatten&) const { return one_pixel(input.channels * input.pixels()); }
  Shape operator()(const Linear& l) const { return {l.outputs, input.height, input.width}; }
  Shape operator()(const Branches& b) const {
    Shape all{0, input.height, input.width};
    for (const Path& path : b.paths) {
      const Shape end = output_shape(path, input);
      all.channels = b.join == Branches::Join::sum ? end.channels : all.channels + end.channels;
      // All alike, but where one path has nothing left.
      all.height = std::min(all.height, end.height);
      all.width = std::min(all.width, end.width);
    }
    return all;
  }
  Shape operator()(const Normalisation&) const { return input; }
  Shape operator()(const Relu&) const { return input; }
  Shape operator()(const Dropout&) const { return input; }

  Shape one_pixel(std::int64_t channels) const {
    return {channels, std::min<std::int64_t>(input.height, 1),
            std::min<std::int64_t>(input.width, 1)};
  }
};

}  // namespace

std::int64_t output_size(std::int64_t input_size, std::int64_t kernel, std::int64_t stride,
                         Padding padding) {
  if (padding == Padding::same)
    return (input_size + stride - 1) / stride;
  const std::int64_t padded = input_size + (padding == Padding::half ? kernel / 2 * 2 : 0);
  return input_size < 1 || padded < kernel ? 0 : (padded - kernel) / stride + 1;
}

Shape output_shape(const Layer& layer, const Shape& input) {
  return std::visit(ShapeBehind{input}, layer.any());
}

Shape output_shape(const Path& path, const Shape& input) {
  Shape shape = input;
  for (const Layer& layer : path)
    shape = output_shape(layer, shape);
  return shape;
}

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
