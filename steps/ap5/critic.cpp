#include "ap5/critic.hpp"

#include "ap5/layer.hpp"
#include "harness/keras.hpp"

#include <cstddef>
#include <cstdint>

#include <fmt/core.h>

namespace bench::ap5 {

CriticImpl::CriticImpl()
    : dense_(register_module("dense", torch::nn::Linear(critic_channels.back(), critic_width))),
      score_(register_module("score", torch::nn::Linear(critic_width, 1))) {
  std::int64_t channels = 1;
  for (std::size_t i = 0; i < critic_channels.size(); ++i) {
    layers_.push_back(
        register_module(fmt::format("layer{}", i), Layer(channels, critic_channels[i], 2)));
    channels = critic_channels[i];
  }
  steps::keras::initialise(*this);
  for (Layer& layer : layers_)
    layer->initialise_after_he();
}

torch::Tensor CriticImpl::forward(torch::Tensor x) {  // (B, 1, H, W)
  for (Layer& layer : layers_)
    x = layer(x);                           // (B, 64, H/2, W/2), ..., (B, 512, H/16, W/16)
  x = torch::silu(dense_(x.mean({2, 3})));  // (B, 64)
  return score_(x);                         // (B, 1)
}

}  // namespace bench::ap5
