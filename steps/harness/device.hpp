#pragma once

#include "harness/ranks.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace bench::steps {

/// `auto` (the first GPU, else the CPU), `cpu`, `cuda` or `cuda:N`.
/// @throws UsageError if the name is none of these or the device is not there
torch::Device select_device(const std::string& name);

/// The device of one of several ranks, see `device_of_rank`.
/// @throws UsageError as both
torch::Device select_device(const std::string& name, const Ranks& ranks);

/// The maker's name of the device, for example `NVIDIA H100 80GB HBM3`.
std::string device_name(const torch::Device& device);

/// Waits until everything that was given to the device is done. Nothing to do on the CPU.
void synchronise(const torch::Device& device);

/// Starts to bring a number, a scalar on this or that device, to the host. The function that is
/// returned waits until it is there and gives it; on a GPU nothing that was launched later is
/// waited for.
std::function<double()> number_on_host(const torch::Tensor& number);

/// Of the GPU; or what each of that many processes that share the host may have, by its memory and
/// the limits of control groups (Slurm's, a container's) and of this process (`ulimit`).
std::int64_t device_memory_bytes(const torch::Device& device, int processes = 1);

/// The most memory that was in use so far, in bytes: of tensors on the GPU, or on the CPU the
/// resident set of this process. Empty where it cannot be measured.
std::optional<std::int64_t> peak_memory_bytes(const torch::Device& device);

}  // namespace bench::steps
