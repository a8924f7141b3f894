#include "vision/network/model.hpp"

#include "harness/communicator.hpp"
#include "vision/network/tables.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

namespace bench::vision {

BatchNormImpl::BatchNormImpl(std::int64_t channels, const Normalisation& options)
    : weight(register_parameter("weight", torch::ones(channels))),
      bias(register_parameter("bias", torch::zeros(channels))),
      running_mean_(register_buffer("running_mean", torch::zeros(channels))),
      running_variance_(register_buffer("running_var", torch::ones(channels))),
      options_(options) {}

torch::Tensor BatchNormImpl::forward(const torch::Tensor& images) {
  if (is_training() && ranks_ && ranks_->size() > 1)
    return normalise_over_ranks(images, {weight, bias, running_mean_, running_variance_}, options_,
                                *ranks_);
  namespace nn = torch::nn::functional;
  return nn::batch_norm(images, running_mean_, running_variance_,
                        nn::BatchNormFuncOptions()
                            .weight(weight)
                            .bias(bias)
                            .training(is_training())
                            .momentum(options_.momentum)
                            .eps(options_.epsilon));
}

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// All dimensions but that of the channels.
std::vector<std::int64_t> dimensions_of_channel(const torch::Tensor& x) {
  std::vector<std::int64_t> dimensions{0};
  for (std::int64_t d = 2; d < x.dim(); ++d)
    dimensions.push_back(d);
  return dimensions;
}

/// (C) -> (1, C, 1, ...), which is added to and multiplied with x.
torch::Tensor beside(const torch::Tensor& x, const torch::Tensor& channels) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.dim()), 1);
  shape[1] = channels.size(0);
  return channels.view(shape);
}

/// Numbers of a channel on all ranks.
double numbers_per_channel(const torch::Tensor& x, const steps::Communicator& ranks) {
  return static_cast<double>(x.numel() / x.size(1)) * ranks.size();
}

struct ChannelMoments {
  torch::Tensor mean;      // (C)
  torch::Tensor variance;  // (C), over n, not n - 1
};

/// Those of each rank, and what their means differ: a sum of squares would lose digits.
ChannelMoments moments_over_ranks(const torch::Tensor& x, steps::Communicator& ranks) {
  const auto [variance, mean] = torch::var_mean(x, dimensions_of_channel(x), /*unbiased=*/false);
  const torch::Tensor all = ranks.all_gather(torch::stack({mean, variance}));  // (ranks, 2, C)
  const torch::Tensor means = all.select(1, 0);
  const torch::Tensor common = means.mean(0);
  return {common, all.select(1, 1).mean(0) + (means - common).square().mean(0)};
}

class NormaliseOverRanks : public torch::autograd::Function<NormaliseOverRanks> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& input,
                               const torch::Tensor& weight, const torch::Tensor& bias,
                               const NormTensors& tensors, const Normalisation& options,
                               steps::Communicator* ranks) {
    const torch::Tensor x = input.to(weight.scalar_type());
    const auto [mean, variance] = moments_over_ranks(x, *ranks);
    const double n = numbers_per_channel(x, *ranks);
    tensors.running_mean.lerp_(mean, options.momentum);
    // The running variance is the unbiased one, as in LibTorch.
    tensors.running_variance.lerp_(variance * (n / (n - 1)), options.momentum);
    const torch::Tensor inverse_deviation = torch::rsqrt(variance + options.epsilon);
    context->save_for_backward({input, weight, mean, inverse_deviation});
    context->saved_data["ranks"] = reinterpret_cast<std::int64_t>(ranks);
    const torch::Tensor y =
        (x - beside(x, mean)) * beside(x, inverse_deviation * weight) + beside(x, bias);
    return y.to(input.scalar_type());
  }

  // With n numbers in a channel of all ranks, g their gradients and d = x - mean:
  //     dx = weight / deviation * (g - sum(g) / n - d * sum(g * d) / (n * deviation^2))
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto [weight, mean, inverse_deviation] = std::tie(saved[1], saved[2], saved[3]);
    auto& ranks = *reinterpret_cast<steps::Communicator*>(context->saved_data["ranks"].toInt());
    const torch::Tensor x = saved[0].to(weight.scalar_type());
    const torch::Tensor g = gradients[0].to(weight.scalar_type());
    const torch::Tensor d = x - beside(x, mean);
    const std::vector<std::int64_t> dimensions = dimensions_of_channel(x);
    const torch::Tensor sums = torch::stack({g.sum(dimensions), (g * d).sum(dimensions)});
    const torch::Tensor of_bias = sums[0].clone();
    const torch::Tensor of_weight = sums[1] * inverse_deviation;
    ranks.all_reduce(sums).wait();
    const torch::Tensor means = sums / numbers_per_channel(x, ranks);
    const torch::Tensor of_x =
        beside(x, weight * inverse_deviation) *
        (g - beside(x, means[0]) - d * beside(x, inverse_deviation.square() * means[1]));
    return {of_x.to(saved[0].scalar_type()), of_weight, of_bias, {}, {}, {}};
  }
};

}  // namespace

torch::Tensor normalise_over_ranks(const torch::Tensor& x, const NormTensors& tensors,
                                   const Normalisation& options, steps::Communicator& ranks) {
  return NormaliseOverRanks::apply(x, tensors.weight, tensors.bias, tensors, options, &ranks);
}

void normalise_over_ranks(torch::nn::Module& network, steps::Communicator& ranks) {
  for (const std::shared_ptr<torch::nn::Module>& module : network.modules())
    if (auto* norm = module->as<BatchNormImpl>())
      norm->set_ranks(ranks);
}

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
