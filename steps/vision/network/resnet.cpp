#include "vision/network/resnet.hpp"

#include "vision/network/layers.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace bench::vision {
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

}  // namespace bench::vision
