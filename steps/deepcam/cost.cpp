#include "deepcam/cost.hpp"

#include "deepcam/architecture.hpp"
#include "deepcam/sample.hpp"
#include "harness/cost.hpp"

#include <cstdint>

namespace bench::deepcam {
namespace {

/// Adds the costs of layers that work on images of one size.
class LayerCosts {
 public:
  LayerCosts(steps::Cost& cost, std::int64_t height, std::int64_t width)
      : cost_(&cost), height_(height), width_(width) {}

  LayerCosts at_stride(std::int64_t stride) const {
    return {*cost_, height_ / stride, width_ / stride};
  }

  /// To this image.
  void convolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                   std::int64_t groups = 1) const {
    cost_->convolution({.in = in,
                        .out = out,
                        .kernel = {kernel, kernel},
                        .output = {height_, width_},
                        .groups = groups,
                        .bias = false});
  }
  void normalised(std::int64_t in, std::int64_t out, std::int64_t kernel) const {
    convolution(in, out, kernel);
    cost_->normalisation({.channels = out});
  }
  void separable(const Separable& layer) const {
    convolution(layer.in, layer.in, 3, layer.in);
    convolution(layer.in, layer.out, 1);
    if (layer.normalised)
      cost_->normalisation({.channels = layer.out});
  }
  /// From this image to one of twice the size.
  void doubling(std::int64_t in, std::int64_t out) const {
    cost_->transposed_convolution(
        {.in = in, .out = out, .kernel = {3, 3}, .input = {height_, width_}, .bias = false});
  }
  void doubling_normalised(std::int64_t in, std::int64_t out) const {
    doubling(in, out);
    cost_->normalisation({.channels = out});
  }

 private:
  steps::Cost* cost_;
  std::int64_t height_;
  std::int64_t width_;
};

/// Returns the costs at the block's output.
LayerCosts add_block(const LayerCosts& input, const Block& block) {
  const LayerCosts output = input.at_stride(block.stride());
  for (const Separable& layer : block.layers)
    (layer.stride == 1 ? input : output).separable(layer);
  if (block.changes_shape())
    output.normalised(block.in(), block.out(), 1);
  return output;
}

void add_context(steps::Cost& cost, const LayerCosts& layers, const Architecture& architecture) {
  const std::int64_t in = architecture.exit.back().out;
  const std::int64_t out = architecture.context;
  for (const std::int64_t rate : architecture.rates)
    layers.normalised(in, out, rate == 1 ? 1 : 3);
  cost.linear({.in = in, .out = out, .bias = false}).parameters(2 * out);  // the whole image
  layers.normalised(static_cast<std::int64_t>(architecture.rates.size() + 1) * out, out, 1);
}

}  // namespace

steps::Cost cost(std::int64_t height, std::int64_t width, const Architecture& architecture) {
  steps::Cost total;
  total.input({channel_count, height, width});
  const LayerCosts image(total, height, width);
  LayerCosts layers = image.at_stride(2);
  std::int64_t in = channel_count;
  for (const std::int64_t out : architecture.entry) {
    layers.normalised(in, out, 3);
    in = out;
  }
  for (const Block& block : architecture.blocks)
    layers = add_block(layers, block);
  for (const Separable& layer : architecture.exit)
    layers.separable(layer);
  add_context(total, layers, architecture);
  const LayerCosts quarter = image.at_stride(4);
  const std::int64_t context = architecture.context;
  quarter.normalised(architecture.blocks.front().out(), architecture.low_level, 1);
  layers.doubling_normalised(context, context);
  image.at_stride(8).doubling_normalised(context, context);
  quarter.normalised(context + architecture.low_level, context, 3);
  quarter.normalised(context, context, 3);
  quarter.convolution(context, context, 1);
  total.parameters(context);  // its bias
  quarter.doubling_normalised(context, context);
  image.at_stride(2).doubling(context, label::count);
  return total;
}

}  // namespace bench::deepcam
