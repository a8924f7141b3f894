#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <bench/energy/sources/amd_gauge.hpp>

namespace bench::energy {

/// Power, energy and the driver's time in the table that amdgpu shows as `gpu_metrics`.
///
/// Known are the tables v1.0 to v1.8 of discrete GPUs and MI300A; of all-ones ("not available")
/// nothing is taken.
/// Source: the structures gpu_metrics_v1_0 to gpu_metrics_v1_8 in kgd_pp_interface.h of the amdgpu
/// driver (MIT) and in ROCm SMI's rocm_smi_gpu_metrics.h; in watts, counts of 2^-16 J and
/// nanoseconds, in the host's byte order, which is little-endian wherever there is ROCm.
/// @return nothing, and the reason in `failure`, for another table or one cut short
std::optional<AmdValues> parse_gpu_metrics(std::span<const std::byte> table, std::string& failure);

}  // namespace bench::energy
