#pragma once

#include "ap5/layer.hpp"
#include "harness/torch_all.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace bench::ap5 {

/// Channels of each layer of the critic, which halves the resolution.
inline constexpr std::array<std::int64_t, 4> critic_channels{64, 128, 256, 512};
inline constexpr std::int64_t critic_width = 64;  ///< Of its linear layer.

/// The critic of MAELSTROM's AP5, which scores fields of temperature: (B, 1, H, W) -> (B, 1).
/// Source: MAELSTROM deliverable D3.7, section 4.8. Weights begin as in Keras.
class CriticImpl : public torch::nn::Module {
 public:
  CriticImpl();
  torch::Tensor forward(torch::Tensor x);

 private:
  std::vector<Layer> layers_;
  torch::nn::Linear dense_;
  torch::nn::Linear score_;
};
TORCH_MODULE(Critic);

}  // namespace bench::ap5
