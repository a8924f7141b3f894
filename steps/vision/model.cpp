#include "vision/model.hpp"

#include <string>

namespace bench::vision {
namespace {

torch::nn::Conv2dOptions convolution_options(const Convolution& shape) {
  return torch::nn::Conv2dOptions(shape.in_channels, shape.out_channels, shape.kernel)
      .stride(shape.stride)
      .padding(shape.padding())
      .bias(false);  // the normalisation behind it has one
}

}  // namespace

ConvolutionNormImpl::ConvolutionNormImpl(const Convolution& shape)
    : convolution_(register_module("conv", torch::nn::Conv2d(convolution_options(shape)))),
      norm_(register_module("norm", torch::nn::BatchNorm2d(shape.out_channels))) {
  torch::nn::init::kaiming_normal_(convolution_->weight, 0.0, torch::kFanOut, torch::kReLU);
}

torch::Tensor ConvolutionNormImpl::forward(const torch::Tensor& x) {
  return norm_->forward(convolution_->forward(x));
}

ResidualBlockImpl::ResidualBlockImpl(const Block& block) {
  for (const Convolution& shape : block.path)
    path_.push_back(register_module("path" + std::to_string(path_.size()), ConvolutionNorm(shape)));
  if (block.shortcut)
    shortcut_ = register_module("shortcut", ConvolutionNorm(*block.shortcut));
}

torch::Tensor ResidualBlockImpl::forward(const torch::Tensor& x) {
  torch::Tensor y = x;
  for (std::size_t i = 0; i + 1 < path_.size(); ++i)
    y = path_[i]->forward(y).relu_();  // (B, width, H or H/stride, ...)
  y = path_.back()->forward(y);        // (B, out, H/stride, W/stride), may be negative
  y += shortcut_.is_empty() ? x : shortcut_->forward(x);
  return y.relu_();
}

ResNetImpl::ResNetImpl(const Architecture& architecture)
    : stem_(register_module("stem", ConvolutionNorm(architecture.stem))), classifier_(nullptr) {
  for (const Block& block : architecture.blocks)
    blocks_.push_back(
        register_module("block" + std::to_string(blocks_.size()), ResidualBlock(block)));
  classifier_ =
      register_module("classifier", torch::nn::Linear(architecture.features, architecture.classes));
}

torch::Tensor ResNetImpl::forward(const torch::Tensor& images) {  // (B, 3, S, S)
  torch::Tensor x = stem_->forward(images).relu_();               // (B, 64, S/2, S/2)
  x = torch::max_pool2d(x, Architecture::pool_kernel, Architecture::pool_stride,
                        /*padding=*/1);  // (B, 64, S/4, S/4)
  for (ResidualBlock& block : blocks_)
    x = block->forward(x);                               // ... (B, features, S/32, S/32)
  x = torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1);  // (B, features)
  return classifier_->forward(x);                        // (B, classes)
}

}  // namespace bench::vision
