#pragma once

#include <memory>
#include <string>
#include <vector>

#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/amd_devices.hpp>

namespace bench::energy {

/// Where librocm_smi64.so may be, in ROCM_PATH and the places that it is installed to.
std::vector<std::string> rocm_smi_libraries();

/// AMD GPUs through ROCm SMI: `rocm:0:gpu`. Power is what `rsmi_dev_power_get` says, else
/// `rsmi_dev_current_socket_power_get`, else `rsmi_dev_power_ave_get`, whichever the GPU answers;
/// energy is the count of `rsmi_dev_energy_count_get` in units of 2^-16 J.
/// Source: rocm_smi.h.
/// @throws bench::Error if the library or a GPU of those that the program sees is not there
std::unique_ptr<PowerSource> open_rocm_smi(const std::vector<std::string>& libraries,
                                           const AmdVisibility& visibility);

}  // namespace bench::energy
