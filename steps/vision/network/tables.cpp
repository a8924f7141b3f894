#include "vision/network/tables.hpp"

#include "harness/arguments.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

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

namespace {

constexpr std::int64_t first_width = 64;

struct BlockShape {
  std::int64_t in;
  std::int64_t width;
  std::int64_t out;
  std::int64_t stride;

  bool changes() const { return in != out || stride != 1; }
};

Path sum(Path path, Path shortcut) {
  return {Branches{Branches::Join::sum, {std::move(path), std::move(shortcut)}}};
}

Path postactivation_block(ResidualBlock kind, const BlockShape& s) {
  const Normalisation norm;
  Path path;
  if (kind == ResidualBlock::basic)
    path = {Convolution{s.width, 3, s.stride}, norm, Relu{}, Convolution{s.out, 3}, norm};
  else
    path = {Convolution{s.width, 1}, norm, Relu{}, Convolution{s.width, 3, s.stride}, norm, Relu{},
            Convolution{s.out, 1},   norm};
  Path shortcut;
  if (s.changes())
    shortcut = {Convolution{s.out, 1, s.stride}, norm};
  Path block = sum(std::move(path), std::move(shortcut));
  block.push_back(Relu{});
  return block;
}

Path preactivation_block(const BlockShape& s) {
  const Normalisation norm;
  const Path activation = {norm, Relu{}};
  Path path = {Convolution{s.width, 1, s.stride},
               norm,
               Relu{},
               Convolution{s.width, 3},
               norm,
               Relu{},
               Convolution{s.out, 1}};
  if (!s.changes()) {
    path.insert(path.begin(), activation.begin(), activation.end());
    return sum(std::move(path), {});
  }
  Path block = activation;
  block.push_back(sum(std::move(path), {Convolution{s.out, 1, s.stride}}).front());
  return block;
}

}  // namespace

Path resnet(ResidualBlock kind, const std::array<std::int64_t, 4>& blocks_per_width) {
  const bool preactivation = kind == ResidualBlock::preactivation;
  const Padding pool_padding = preactivation ? Padding::same : Padding::half;
  Path layers = {Convolution{first_width, 7, 2}, Normalisation{}, Relu{},
                 Pooling{Pooling::Kind::maximum, 3, 2, pool_padding}};
  std::int64_t in = first_width;
  std::int64_t width = first_width;
  for (const std::int64_t blocks : blocks_per_width) {
    const std::int64_t out = kind == ResidualBlock::basic ? width : 4 * width;
    for (std::int64_t index = 0; index < blocks; ++index, in = out) {
      const BlockShape shape{in, width, out, index == 0 && width != first_width ? 2 : 1};
      const Path block =
          preactivation ? preactivation_block(shape) : postactivation_block(kind, shape);
      layers.insert(layers.end(), block.begin(), block.end());
    }
    width *= 2;
  }
  if (preactivation)
    layers.insert(layers.end(), {Normalisation{}, Relu{}});
  layers.push_back(GlobalAverage{});
  return layers;
}

namespace {

void add_convolution(Path& layers, std::int64_t out_channels, std::int64_t kernel,
                     std::int64_t stride = 1, Padding padding = Padding::half) {
  layers.push_back(Convolution{out_channels, kernel, stride, padding, true});
  layers.push_back(Relu{});
}

void add_maximum(Path& layers, std::int64_t kernel) {
  layers.push_back(Pooling{Pooling::Kind::maximum, kernel, 2});
}

void add_hidden_layers(Path& layers) {
  layers.push_back(Flatten{});
  for (int i = 0; i < 2; ++i)
    layers.insert(layers.end(), {Linear{4096}, Relu{}, Dropout{0.5}});
}

}  // namespace

Path alexnet() {
  Path layers;
  add_convolution(layers, 64, 11, 4, Padding::none);
  add_maximum(layers, 3);
  add_convolution(layers, 192, 5);
  add_maximum(layers, 3);
  add_convolution(layers, 384, 3);
  add_convolution(layers, 384, 3);
  add_convolution(layers, 256, 3);
  add_maximum(layers, 3);
  add_hidden_layers(layers);
  return layers;
}

Path vgg16() {
  struct Stage {
    std::int64_t width;
    int convolutions;
  };
  Path layers;
  for (const Stage& stage : {Stage{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    for (int i = 0; i < stage.convolutions; ++i)
      add_convolution(layers, stage.width, 3);
    add_maximum(layers, 2);
  }
  add_hidden_layers(layers);
  return layers;
}

namespace {

constexpr Pooling reducing_maximum{Pooling::Kind::maximum, 3, 2};
constexpr Pooling centred_maximum{Pooling::Kind::maximum, 3, 1, Padding::half};
constexpr Pooling centred_average{Pooling::Kind::average, 3, 1, Padding::half};

Convolution reducing(std::int64_t out_channels) {
  return {out_channels, 3, 2, Padding::none};
}

/// Convolutions one behind the other, each with its normalisation and ReLU.
Path chain(std::initializer_list<Convolution> convolutions) {
  Path path;
  for (const Convolution& convolution : convolutions)
    path.insert(path.end(), {convolution, Normalisation{1e-3, 1e-3, false}, Relu{}});
  return path;
}

Layer side_by_side(std::vector<Path> paths) {
  return Branches{Branches::Join::concatenation, std::move(paths)};
}

/// A pooling and a 1x1 convolution behind it.
Path pooled(const Pooling& pooling, std::int64_t out_channels) {
  Path path = chain({{out_channels, 1}});
  path.insert(path.begin(), pooling);
  return path;
}

/// Figure 5: (B, C, n, n) -> (B, 224 + pool_channels, n, n).
Layer block_of_squares(std::int64_t pool_channels) {
  return side_by_side({chain({{64, 1}}), chain({{48, 1}, {64, 5}}),
                       chain({{64, 1}, {96, 3}, {96, 3}}), pooled(centred_average, pool_channels)});
}

/// Figure 6 with n = 7: (B, 768, n, n) -> (B, 768, n, n), `inner` channels within.
Layer block_of_sevens(std::int64_t inner) {
  const Kernel row{1, 7};
  const Kernel column{7, 1};
  return side_by_side(
      {chain({{192, 1}}), chain({{inner, 1}, {inner, row}, {192, column}}),
       chain({{inner, 1}, {inner, column}, {inner, row}, {inner, column}, {192, row}}),
       pooled(centred_average, 192)});
}

/// Figure 7: (B, C, n, n) -> (B, 2048, n, n). Two of its paths end in a row beside a column.
Layer wide_block(const Pooling& pooling) {
  const Layer row_and_column = side_by_side({chain({{384, {1, 3}}}), chain({{384, {3, 1}}})});
  Path from_small = chain({{384, 1}});
  from_small.push_back(row_and_column);
  Path from_large = chain({{448, 1}, {384, 3}});
  from_large.push_back(row_and_column);
  return side_by_side({chain({{320, 1}}), from_small, from_large, pooled(pooling, 192)});
}

}  // namespace

Path inception3() {
  Path layers = chain({reducing(32), {32, 3, 1, Padding::none}, {64, 3}});
  layers.push_back(reducing_maximum);
  const Path second = chain({{80, 1}, {192, 3, 1, Padding::none}});
  layers.insert(layers.end(), second.begin(), second.end());
  layers.push_back(reducing_maximum);  // 299x299 -> (B, 192, 35, 35)
  for (const std::int64_t pool_channels : {32, 64, 64})
    layers.push_back(block_of_squares(pool_channels));
  layers.push_back(side_by_side({chain({reducing(384)}),
                                 chain({{64, 1}, {96, 3}, reducing(96)}),
                                 {reducing_maximum}}));  // (B, 768, 17, 17)
  for (const std::int64_t inner : {128, 160, 160, 192})
    layers.push_back(block_of_sevens(inner));
  layers.push_back(side_by_side({chain({{192, 1}, reducing(320)}),
                                 chain({{192, 1}, {192, {1, 7}}, {192, {7, 1}}, reducing(192)}),
                                 {reducing_maximum}}));  // (B, 1280, 8, 8)
  layers.push_back(wide_block(centred_average));
  layers.push_back(wide_block(centred_maximum));
  layers.push_back(GlobalAverage{});
  return layers;
}

namespace {

struct Entry {
  const char* name;
  std::int64_t image_size;
  Path (*layers_before_classifier)();  ///< Null: of a ResNet with these blocks.
  ResidualBlock block = {};
  std::array<std::int64_t, 4> blocks_per_width = {};
};

constexpr Entry entries[] = {
    {"alexnet", 227, alexnet},
    {"inception3", 299, inception3},
    {"resnet18", 224, nullptr, ResidualBlock::basic, {2, 2, 2, 2}},
    {"resnet34", 224, nullptr, ResidualBlock::basic, {3, 4, 6, 3}},
    {"resnet50", 224, nullptr, ResidualBlock::bottleneck, {3, 4, 6, 3}},
    {"resnet50_v2", 224, nullptr, ResidualBlock::preactivation, {3, 4, 6, 3}},
    {"resnet101", 224, nullptr, ResidualBlock::bottleneck, {3, 4, 23, 3}},
    {"resnet152", 224, nullptr, ResidualBlock::bottleneck, {3, 8, 36, 3}},
    {"vgg16", 224, vgg16},
};

}  // namespace

const std::vector<std::string>& architecture_names() {
  static const std::vector<std::string> names = steps::names_of(entries);
  return names;
}

Architecture make_architecture(const std::string& name, std::int64_t classes) {
  const Entry& entry = steps::row_named(entries, name);
  Architecture result{name, entry.image_size,
                      entry.layers_before_classifier ? entry.layers_before_classifier()
                                                     : resnet(entry.block, entry.blocks_per_width)};
  result.layers.push_back(Linear{classes});
  return result;
}

std::int64_t smallest_image_size(const Architecture& architecture) {
  std::int64_t size = 1;
  while (output_shape(architecture.layers, architecture.input(size)).pixels() == 0)
    ++size;
  return size;
}

}  // namespace bench::vision
