#include "ap5/generator.hpp"

#include "ap5/layer.hpp"
#include "ap5/sample.hpp"
#include "harness/keras.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/core.h>

namespace bench::ap5 {

UpImpl::UpImpl(std::int64_t in, std::int64_t out)
    : enlarge_(register_module(
          "enlarge", torch::nn::Conv2d(torch::nn::Conv2dOptions(in, 4 * out, 3).padding(1)))),
      first_(register_module("first", Layer(2 * out, out))),
      second_(register_module("second", Layer(out, out))) {}

torch::Tensor UpImpl::forward(const torch::Tensor& x, const torch::Tensor& skip) {
  const torch::Tensor up = torch::pixel_shuffle(torch::silu(enlarge_(x)), 2);  // (B, out, 2H, 2W)
  return second_(first_(torch::cat({up, skip}, 1)));                           // (B, out, 2H, 2W)
}

void UpImpl::initialise_after_he() {
  first_->initialise_after_he();
  second_->initialise_after_he();
}

GeneratorImpl::GeneratorImpl()
    : second_(
          register_module("second", Layer(generator_channels.front(), generator_channels.front()))),
      temperature_(
          register_module("temperature", torch::nn::Conv2d(generator_channels.front(), 1, 1))),
      height_(register_module("height", torch::nn::Conv2d(generator_channels.front(), 1, 1))) {
  std::int64_t channels = predictor_count;
  for (std::size_t level = 0; level < generator_channels.size(); ++level) {
    encoder_.push_back(register_module(fmt::format("encoder{}", level),
                                       Layer(channels, generator_channels[level])));
    channels = generator_channels[level];
  }
  for (std::size_t level = generator_channels.size() - 1; level > 0; --level)
    decoder_.push_back(
        register_module(fmt::format("decoder{}", level - 1),
                        Up(generator_channels[level], generator_channels[level - 1])));
  steps::keras::initialise(*this);
  second_->initialise_after_he();
  for (Layer& layer : encoder_)
    layer->initialise_after_he();
  for (Up& up : decoder_)
    up->initialise_after_he();
}

torch::Tensor GeneratorImpl::forward(torch::Tensor x) {  // (B, 15, H, W)
  std::vector<torch::Tensor> skips;  // (B, 56, H, W), (B, 112, H/2, W/2), (B, 224, H/4, W/4)
  for (std::size_t level = 0; level < encoder_.size(); ++level) {
    if (level > 0)
      x = torch::max_pool2d(x, 2);
    x = encoder_[level](x);
    if (level == 0)
      x = second_(x);
    skips.push_back(x);
  }
  skips.pop_back();  // x is (B, 448, H/8, W/8)
  for (Up& up : decoder_) {
    x = up(x, skips.back());  // (B, 224, H/4, W/4), ..., (B, 56, H, W)
    skips.pop_back();
  }
  return torch::cat({temperature_(x), height_(x)}, 1);  // (B, 2, H, W)
}

}  // namespace bench::ap5
