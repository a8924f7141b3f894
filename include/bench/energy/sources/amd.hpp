#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/amd_devices.hpp>

namespace bench::energy {

/// What one reading of an AMD GPU gave, as its driver has it.
struct AmdValues {
  std::optional<double> power_w;
  /// The accumulator, in units of 2^-16 J = 15.2588 uJ. AMD SMI tells a resolution of 15.3 uJ,
  /// which is rounded. Source: ROCm SMI, rocm_smi_gpu_metrics.h, m_energy_accumulator.
  std::optional<std::uint64_t> energy_count;
  std::optional<double> time_s;  ///< When it was so, on the driver's clock.
};

/// Turns the values of one AMD GPU into readings.
///
/// - 0 W, 5 kW and more, and a count of 0 are not values.
/// - The accumulator is wide in the interface but not in all firmware: it may start again after
///   2^32 counts, 65536 J, which is four minutes at 300 W. A step back counts as that if the way
///   over the end needs no more than 5 kW; else it is a reset, and shows as one.
/// Source: kgd_pp_interface.h of the amdgpu driver (MIT), gpu_metrics_v1_0 and later.
class AmdGauge {
 public:
  /// @param host_time_s stands in for a driver's clock that is not available
  Reading reading(const AmdValues& values, double host_time_s);

 private:
  double energy_j(double count_j, double time_s);

  struct Point {
    double energy_j;
    double time_s;
  };
  std::optional<Point> last_;  ///< With the accumulator as it is read.
  double wrapped_j_ = 0;
};

/// Power, energy and the driver's time in the table that amdgpu shows as `gpu_metrics`.
///
/// Known are the tables v1.0 to v1.8 of discrete GPUs and MI300A; of all-ones ("not available")
/// nothing is taken.
/// Source: the structures gpu_metrics_v1_0 to gpu_metrics_v1_8 in kgd_pp_interface.h of the amdgpu
/// driver (MIT) and in ROCm SMI's rocm_smi_gpu_metrics.h; in watts, counts of 2^-16 J and
/// nanoseconds, in the host's byte order, which is little-endian wherever there is ROCm.
/// @return nothing, and the reason in `failure`, for another table or one cut short
std::optional<AmdValues> parse_gpu_metrics(std::span<const std::byte> table, std::string& failure);

/// AMD GPUs through the files of their driver, without any library: `amdgpu:0:gpu` with power and
/// energy from `<sysfs>/class/drm/card*/device/gpu_metrics`; where that has no power, from
/// `device/hwmon/hwmon*/power1_average` or `power1_input`, in microwatts.
/// Source: Linux Documentation/gpu/amdgpu/thermal.rst.
/// @throws bench::Error if no GPU of those that the program sees can be read
std::unique_ptr<PowerSource> open_amdgpu(const std::filesystem::path& sysfs,
                                         const AmdVisibility& visibility);

/// AMD GPUs through AMD SMI: `amdsmi:0:gpu`, with power in whole watts where the layout of this
/// version is known, and the energy count in units of 2^-16 J. For nodes whose sysfs is not
/// readable: it reads what `amdgpu` reads, its interface changes, and its counters have stood still
/// (before ROCm 6.1), run backwards and at a wrong rate (amdsmi issues 22, 115 and 38).
/// @param sysfs where products and unique ids of the devices are looked up
/// @throws bench::Error if the library, in a known version, or a GPU that the program sees is not
///         there
std::unique_ptr<PowerSource> open_amd_smi(const std::vector<std::string>& libraries,
                                          const std::filesystem::path& sysfs,
                                          const AmdVisibility& visibility);

/// Where libamd_smi.so may be: in `lib` of `rocm_path` (ROCM_PATH); where the loader looks, with
/// each of the known versions and without; in `lib` of `<opt>/rocm` and of the newest
/// `<opt>/rocm-*`.
std::vector<std::string> amd_smi_libraries(const std::optional<std::string>& rocm_path,
                                           const std::filesystem::path& opt = "/opt");

}  // namespace bench::energy
