#include "vision/network/model.hpp"

#include "vision/network/batch_norm.hpp"
#include "vision/network/layers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

namespace bench::vision {
namespace {

torch::nn::Sequential build(const Path& path, Shape shape);

class ParallelPathsImpl : public torch::nn::Module {
 public:
  ParallelPathsImpl(const Branches& branches, const Shape& input) : join_(branches.join) {
    for (const Path& path : branches.paths)
      paths_.push_back(register_module(fmt::format("path{}", paths_.size()), build(path, input)));
  }

  torch::Tensor forward(const torch::Tensor& x) {  // (B, C, H, W)
    std::vector<torch::Tensor> ends;
    for (torch::nn::Sequential& path : paths_)
      ends.push_back(path->is_empty() ? x : path->forward(x));
    if (join_ == Branches::Join::concatenation)
      return torch::cat(ends, 1);  // (B, sum of the paths' channels, H', W')
    for (std::size_t i = 1; i < ends.size(); ++i)
      ends[0] += ends[i];
    return ends[0];  // (B, C', H', W')
  }

 private:
  Branches::Join join_;
  std::vector<torch::nn::Sequential> paths_;
};
TORCH_MODULE(ParallelPaths);

/// LibTorch's Conv2d, but its weights are left as they come: that one draws 23 million numbers for
/// those of a ResNet-50, which nobody uses.
class ConvolutionLayerImpl : public torch::nn::Module {
 public:
  ConvolutionLayerImpl(std::int64_t in_channels, const Convolution& shape)
      : weight(
            register_parameter("weight", torch::empty({shape.out_channels, in_channels,
                                                       shape.kernel.height, shape.kernel.width}))),
        stride_(shape.stride) {
    if (shape.bias)
      bias = register_parameter("bias", torch::empty(shape.out_channels));
    if (shape.padding == Padding::half)
      padding_ = {shape.kernel.height / 2, shape.kernel.width / 2};
  }

  torch::Tensor forward(const torch::Tensor& x) {  // (B, C, H, W) -> (B, C', H', W')
    return torch::conv2d(x, weight, bias, stride_, padding_);
  }

  torch::Tensor weight;  ///< (C', C, kernel height, kernel width)
  torch::Tensor bias;    ///< (C'); undefined where the layer has none

 private:
  std::int64_t stride_;
  std::array<std::int64_t, 2> padding_{0, 0};
};
TORCH_MODULE(ConvolutionLayer);

/// Puts the module of one layer behind those that are there.
struct Append {
  torch::nn::Sequential& sequence;
  Shape input;

  template <typename Module>
  void add(const char* kind, Module&& module) {
    sequence->push_back(fmt::format("{}{}", kind, sequence->size()), std::forward<Module>(module));
  }

  void operator()(const Convolution& c) {
    ConvolutionLayer module(input.channels, c);
    if (c.bias) {
      torch::nn::init::kaiming_normal_(module->weight, 0.0, torch::kFanIn, torch::kReLU);
      torch::nn::init::zeros_(module->bias);
    } else {
      torch::nn::init::kaiming_normal_(module->weight, 0.0, torch::kFanOut, torch::kReLU);
    }
    add("convolution", module);
  }

  void operator()(const Normalisation& n) {
    BatchNorm module(input.channels, n);
    // A constant factor, as TensorFlow has it: cuDNN takes none but with a factor.
    module->weight.set_requires_grad(n.scale);
    add("normalisation", module);
  }

  void operator()(const Relu&) {
    // In place: none of the layers in front of it needs its own output for its gradient.
    add("relu", torch::nn::ReLU(torch::nn::ReLUOptions(true)));
  }

  void operator()(const Pooling& p) {
    if (p.kind == Pooling::Kind::average)
      add("average", torch::nn::AvgPool2d(torch::nn::AvgPool2dOptions(p.kernel)
                                              .stride(p.stride)
                                              .padding(padding_before(p))
                                              .count_include_pad(false)));
    else
      // LibTorch pads all sides alike. Where SAME has one pixel more below and right, rounding up
      // lets the last window reach over the edge by that pixel.
      add("maximum", torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions(p.kernel)
                                              .stride(p.stride)
                                              .padding(padding_before(p))
                                              .ceil_mode(p.padding == Padding::same)));
  }

  std::array<std::int64_t, 2> padding_before(const Pooling& p) const {
    if (p.padding != Padding::same) {
      const std::int64_t side = p.padding == Padding::half ? p.kernel / 2 : 0;
      return {side, side};
    }
    const auto padding_of_side = [&](std::int64_t size) {
      const std::int64_t windows = output_size(size, p.kernel, p.stride, p.padding);
      return std::max<std::int64_t>((windows - 1) * p.stride + p.kernel - size, 0) / 2;
    };
    return {padding_of_side(input.height), padding_of_side(input.width)};
  }

  void operator()(const GlobalAverage&) {
    add("mean", torch::nn::Functional([](const torch::Tensor& x) {
          return torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
        }));
  }
  void operator()(const Flatten&) { add("flatten", torch::nn::Flatten()); }
  void operator()(const Linear& l) { add("linear", torch::nn::Linear(input.channels, l.outputs)); }
  void operator()(const Dropout& d) { add("dropout", torch::nn::Dropout(d.rate)); }
  void operator()(const Branches& b) { add("branches", ParallelPaths(b, input)); }
};

torch::nn::Sequential build(const Path& path, Shape shape) {
  torch::nn::Sequential sequence;
  for (const Layer& layer : path) {
    std::visit(Append{sequence, shape}, layer.any());
    shape = output_shape(layer, shape);
  }
  return sequence;
}

}  // namespace

NetworkImpl::NetworkImpl(const Path& layers, const Shape& input)
    : layers_(register_module("layers", build(layers, input))) {}

torch::Tensor NetworkImpl::forward(const torch::Tensor& images) {
  return layers_->forward(images);
}

}  // namespace bench::vision
