#pragma once

#include "harness/clock.hpp"
#include "harness/replay.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// What needs the headers of the CUDA toolkit, or of ROCm, whose GPUs LibTorch calls CUDA devices.
// Everything here exists without them too, so that nothing else needs an #ifdef; but select_device
// never hands out a GPU then.

namespace bench::steps {

/// Whether LibTorch had CUDA or ROCm when this program was built.
bool built_with_cuda();

std::string cuda_device_name(const torch::Device& device);
std::int64_t cuda_memory_bytes(const torch::Device& device);

/// Whether it is a GPU of NVIDIA's that can round the factors of products to tf32.
bool cuda_has_tf32(const torch::Device& device);

/// Peak of the bytes in tensors on this GPU since the program began, or since the peak was reset.
std::optional<std::int64_t> cuda_peak_memory_bytes(const torch::Device& device);
void reset_cuda_peak_memory(const torch::Device& device);

/// Takes CUDA events on the current stream. An event is used again when its time has been taken.
std::unique_ptr<Clock> make_cuda_clock(const torch::Device& device);

/// Of numbers on a GPU, see numbers_on_host.
std::function<std::vector<double>()> cuda_numbers_on_host(const torch::Tensor& numbers);

/// CUDA graphs, or HIP's. As long as it lives, this thread gives its work to its own stream,
/// since the one that all share cannot be recorded; wait for the device before it goes.
std::unique_ptr<GraphMaker> make_cuda_graphs(const torch::Device& device);

}  // namespace bench::steps
