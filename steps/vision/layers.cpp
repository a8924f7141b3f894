#include "vision/layers.hpp"

#include <algorithm>
#include <cstdint>
#include <variant>

namespace bench::vision {
namespace {

/// The shape behind one layer; a size of 0 stays 0 behind all of them.
struct ShapeBehind {
  Shape input;

  Shape operator()(const Convolution& c) const {
    return {c.out_channels, output_size(input.size, c.kernel.height, c.stride, c.padding)};
  }
  Shape operator()(const Pooling& p) const {
    return {input.channels, output_size(input.size, p.kernel, p.stride, p.padding)};
  }
  Shape operator()(const GlobalAverage&) const { return {input.channels, one_if_any()}; }
  Shape operator()(const Flatten&) const {
    return {input.channels * input.size * input.size, one_if_any()};
  }
  Shape operator()(const Linear& l) const { return {l.outputs, input.size}; }
  Shape operator()(const Branches& b) const {
    Shape all{0, input.size};
    for (const Path& path : b.paths) {
      const Shape end = output_shape(path, input);
      all.channels = b.join == Branches::Join::sum ? end.channels : all.channels + end.channels;
      all.size = std::min(all.size, end.size);  // all alike, but where one path has nothing left
    }
    return all;
  }
  Shape operator()(const Normalisation&) const { return input; }
  Shape operator()(const Relu&) const { return input; }
  Shape operator()(const Dropout&) const { return input; }

  std::int64_t one_if_any() const { return std::min<std::int64_t>(input.size, 1); }
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

}  // namespace bench::vision
