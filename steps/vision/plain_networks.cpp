#include "vision/plain_networks.hpp"

#include "vision/network/layers.hpp"

#include <cstdint>

namespace bench::vision {
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

}  // namespace bench::vision
