#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/energy/core/measurement.hpp>

namespace bench::energy {

/// The additive channels together. Each sum is there only if every one of them has a value.
struct Total {
  std::optional<double> energy_j;
  std::optional<double> uncertainty_j;  ///< Half width of `energy_j`; none of an estimate.
  std::optional<double> too_short_s;    ///< The shortest run that is long enough, if this is not.
  std::optional<double> energy_counter_j;
  std::optional<double> energy_integrated_j;
  std::optional<double> power_mean_w;
  std::optional<double> power_idle_w;
  /// `measured`, `recovered` (up to the last sample of a meter that was killed), `estimated`,
  /// `partial` (a device was lost, or not seen for more than 5 % of the run) or `none`.
  std::string quality;
  std::string absent;  ///< Why there is no `energy_j`, in one line.
};

Total total_of(const Measurement& measurement);

/// The energy beyond what the node, or a device, would have drawn idle for as long.
std::optional<double> net_energy_j(std::optional<double> energy_j,
                                   std::optional<double> power_idle_w,
                                   const Measurement& measurement);

/// Nothing where a meter was killed before its first sample.
std::optional<double> known_duration_s(const Measurement& measurement);

using NameValue = std::pair<std::string, std::string>;

/// Half width of a channel's energy in joules; nothing without one.
std::optional<double> uncertainty_j(const ChannelEnergy& channel, const Measurement& measurement);

/// The summary as names and values, in the order in which it is printed: `energy_wh` and
/// `energy_uncertainty_wh`, `power_mean_w`, `power_max_w`, of single GPUs and IPUs
/// `power_device_max_w` and `power_device_mean_w`, of all of them `power_devices_mean_w`,
/// the sum of their maxima `power_devices_max_w`, `energy_devices_wh`, and that by their counters
/// and integrated, `energy_devices_counter_wh` and `energy_devices_integrated_wh`; where an idle
/// baseline was measured `power_idle_w` and `energy_net_wh`, `energy_<channel>_wh`, `duration_s`,
/// `energy_source`, `energy_quality`, `energy_too_short` if it is; in a recovery `energy_recovered`
/// with what that means; where no total can be given, `energy_absent` with the reason in its place.
std::vector<NameValue> summary(const Measurement& measurement);

/// What a user should know besides: one line each.
std::vector<std::string> warnings(const Measurement& measurement);

}  // namespace bench::energy
