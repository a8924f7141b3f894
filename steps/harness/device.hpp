#pragma once

#include "harness/ranks.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bench::steps {

/// `auto` (the first GPU, else the CPU), `cpu`, `cuda` or `cuda:N`.
/// @throws UsageError if the name is none of these or the device is not there
torch::Device select_device(const std::string& name);

/// The device of one of several ranks, see `device_of_rank`.
/// @throws UsageError as both
torch::Device select_device(const std::string& name, const Ranks& ranks);

/// The maker's name of the device, for example `NVIDIA H100 80GB HBM3`.
std::string device_name(const torch::Device& device);

/// The numbers of a tensor on any device, for which it waits.
std::vector<double> numbers_of(const torch::Tensor& numbers);

/// Starts to bring numbers, (N) on this or that device, to the host. The function that is returned
/// waits until they are there; on a GPU it waits for nothing that was launched later.
std::function<std::vector<double>()> numbers_on_host(const torch::Tensor& numbers);

/// Of the GPU; or what each of that many processes that share the host may have, by its memory and
/// the limits of control groups (Slurm's, a container's) and of this process (`ulimit`).
std::int64_t device_memory_bytes(const torch::Device& device, int processes = 1);

/// The most memory that was in use since the last reset, in bytes: of tensors on the GPU, or on the
/// CPU the resident set of this process. Empty where it cannot be measured.
std::optional<std::int64_t> peak_memory_bytes(const torch::Device& device);
/// Of the CPU, no effect where /proc cannot be written.
void reset_peak_memory(const torch::Device& device);

}  // namespace bench::steps
