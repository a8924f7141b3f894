#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/amd_devices.hpp>

namespace bench::energy {

/// Where libamd_smi.so may be, in ROCM_PATH and the places that it is installed to.
std::vector<std::string> amd_smi_libraries();

/// AMD GPUs through AMD SMI: `amdsmi:0:gpu`, with power in whole watts where the layout of this
/// version is known, and the energy count in units of 2^-16 J. The last resort: it reads what
/// `amdgpu` reads, its interface changes, and its counters have stood still (before ROCm 6.1), run
/// backwards and at a wrong rate (amdsmi issues 22, 115 and 38). See amd_smi_library.hpp.
/// @param sysfs where products and unique ids of the devices are looked up
/// @throws bench::Error if the library, in a known version, or a GPU that the program sees is not
///         there
std::unique_ptr<PowerSource> open_amd_smi(const std::vector<std::string>& libraries,
                                          const std::filesystem::path& sysfs,
                                          const AmdVisibility& visibility);

}  // namespace bench::energy
