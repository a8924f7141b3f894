#pragma once

#include "harness/torch_all.hpp"

namespace bench::steps {

/// Name of it in a saved state.
inline constexpr const char* saved_random_state = "random_state";

/// Where the random numbers of LibTorch's functions on this device stand: bytes, on the CPU.
torch::Tensor random_state(const torch::Device& device);
void set_random_state(const torch::Device& device, const torch::Tensor& state);

}  // namespace bench::steps
