#pragma once

#include <cstdint>
#include <optional>

#include <bench/energy/core/channel.hpp>

namespace bench::energy {

/// What one reading of an AMD GPU gave, as its driver has it.
struct AmdValues {
  std::optional<double> power_w;
  /// The accumulator, in units of 2^-16 J = 15.2588 uJ. ROCm SMI and AMD SMI tell a resolution of
  /// 15.3 uJ, which is rounded.
  /// Source: ROCm SMI, rocm_smi_gpu_metrics.h, m_energy_accumulator.
  std::optional<std::uint64_t> energy_count;
  std::optional<double> time_s;  ///< When it was so, on the driver's clock.
};

/// Asks ROCm SMI or AMD SMI for the accumulator; both have the same call, `get(count, resolution,
/// time_ns)`, which returns 0 where it succeeds.
/// @returns its code
template <class Get>
int read_energy_count(const Get& get, AmdValues& values) {
  std::uint64_t count = 0;
  std::uint64_t time_ns = 0;
  float rounded_resolution_uj = 0;
  const int code = get(&count, &rounded_resolution_uj, &time_ns);
  if (code == 0)
    values.energy_count = count;
  if (code == 0 && time_ns > 0)
    values.time_s = static_cast<double>(time_ns) * 1e-9;
  return code;
}

/// Neither power nor energy other than 0: the second die of an MI250, whose first one shows both.
bool is_silent(const AmdValues& values);

/// After how much energy the accumulator may start again; 0 where it has counted further already.
double counter_range_j(const AmdValues& values);

/// Turns the values of one AMD GPU into readings.
///
/// - 0 W, 5 kW and more, and a count of 0 are not values.
/// - The accumulator is wide in the interface but not in all firmware: it may start again after
///   2^32 counts, 65536 J, which is four minutes at 300 W. A step back counts as that if the way
///   over the end needs no more than 5 kW; else it is a reset, and shows as one.
/// - A GPU that has never shown a power gets that of its accumulator, over at least 10 ms.
/// Source: kgd_pp_interface.h of the amdgpu driver (MIT), gpu_metrics_v1_0 and later.
class AmdGauge {
 public:
  /// @param host_time_s stands in for a driver's clock that is not available
  Reading reading(const AmdValues& values, double host_time_s);

 private:
  double energy_j(double count_j, double time_s);
  std::optional<double> slope_w(double energy_j, double time_s);

  struct Point {
    double energy_j;
    double time_s;
  };
  std::optional<Point> last_;        ///< With the accumulator as it is read.
  std::optional<Point> slope_from_;  ///< With the energy as it is given out.
  double wrapped_j_ = 0;
  bool has_power_ = false;
};

/// How often the driver makes new values at most. Source: AMD staff in ROCm SMI issue 1649.
inline constexpr double amd_counter_period_s = 0.001;

}  // namespace bench::energy
