#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/value.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/sources/methods.hpp>

namespace bench::energy {

/// A figure of the meter, see figures.hpp: a number, or a text.
using NameValue = std::pair<std::string, Value>;
using Summary = std::vector<NameValue>;

/// Formats the value as files show it: numbers with seven digits, or with four if they describe the
/// machine or the measurement.
std::string text_of(const NameValue& line);
/// `energy_wh=1.5`
std::string line_of(const NameValue& line);

/// The value of a cell, if it has one.
using EnergyCell = std::optional<Value>;
/// Formats the cell as files show it: numbers with seven digits, an absent value as an empty text.
std::string text_of(const EnergyCell& cell);

/// What is known of the machine, as names that begin with `machine_` and values: its load before,
/// CPUs that others used, governor, clocks, temperatures, reasons for lower clocks, and last
/// `machine_disturbance` where it was not quiet.
Summary machine_summary(const MachineState& machine);

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

/// Half width of a channel's energy in joules; nothing without one.
std::optional<double> uncertainty_j(const ChannelEnergy& channel, const Measurement& measurement);

/// What decides which level of the EE HPC WG's methodology a measurement reaches.
struct Measured {
  int nodes = 0;             ///< That are measured as a whole.
  bool parts = false;        ///< GPUs or processors beside them are measured without their node.
  double power_mean_w = 0;   ///< Of all together.
  double longest_gap_s = 0;  ///< Without a value.
};

/// The lines of a summary: `energy_nodes` and `energy_gap_s`, from which those of several meters
/// are computed again, `energy_level`, 0 or 1, and `energy_level_limit`: the aspect that keeps it
/// from a higher one, and what it lacks.
///
/// The worst of the four aspects decides. Levels 2 and 3 ask for the accuracy of the meters, the
/// losses of the power supplies, and the network and storage, none of which the meter can know.
/// Source: Energy Efficient HPC Working Group, Power Measurement Methodology, version 2.0.
Summary methodology_summary(const Measured& measured);

/// The summary in the order in which it is printed: `energy_wh` and
/// `energy_uncertainty_wh`, `power_mean_w`, `power_max_w`, of single GPUs and IPUs
/// `power_device_max_w` and `power_device_mean_w`, of all of them `power_devices_mean_w`,
/// the sum of their maxima `power_devices_max_w`, `energy_devices_wh`, and that by their counters
/// and integrated, `energy_devices_counter_wh` and `energy_devices_integrated_wh`; where an idle
/// baseline was measured `power_idle_w` and `energy_net_wh`, `energy_<channel>_wh`, `duration_s`,
/// `energy_source`, `energy_quality`, `energy_too_short` if it is; in a recovery `energy_recovered`
/// with what that means; where no total can be given, `energy_absent` with the reason in its place.
Summary summary(const Measurement& measurement);

/// What a user should know besides: one line each.
std::vector<std::string> warnings(const Measurement& measurement);

/// `energy_region_<name>_wh`, that of GPUs and IPUs alone `energy_devices_region_<name>_wh`,
/// `power_region_<name>_w` (mean) and `duration_region_<name>_s` of every region, as far as they
/// are known, under `distinct_identifiers`.
Summary region_summary(const Measurement& measurement);

/// Which regions have no energy, and why, and whether some share a name: one line each.
std::vector<std::string> region_warnings(const Measurement& measurement);

/// A table with a row per region: how often, how long, its energy in total and by channel.
std::string render_regions_csv(const Measurement& measurement);

/// When the program was in its regions: a row per stay with `region`, `begin_s` and `end_s` on the
/// time axis of the power log, by begin; of each region the first `most_stays`.
std::string render_region_times_csv(const Measurement& measurement);

/// What the node has and why the rest is not there, as a table for people.
std::string source_table(const Sources& sources);

}  // namespace bench::energy
