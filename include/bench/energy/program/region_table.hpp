#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/report.hpp>

namespace bench::energy {

/// Energy of a region over the additive channels, in joules; nothing unless every one of them has a
/// value: never zero, which is what a region shows whose marks came in one moment, and a counter
/// that did not move in it.
std::optional<double> region_energy_j(const Measurement& measurement, std::size_t region);

/// `energy_region_<name>_wh`, that of GPUs and IPUs alone `energy_devices_region_<name>_wh`,
/// `power_region_<name>_w` (mean) and `duration_region_<name>_s` of every region, as far as they
/// are known, under `distinct_identifiers`.
std::vector<NameValue> region_summary(const Measurement& measurement);

/// Which regions have no energy, and why, and whether some share a name: one line each.
std::vector<std::string> region_warnings(const Measurement& measurement);

/// A table with a row per region: how often, how long, its energy in total and by channel.
std::string render_regions_csv(const Measurement& measurement);

/// When the program was in its regions: a row per stay with `region`, `begin_s` and `end_s` on the
/// time axis of the power log, by begin; of each region the first `most_stays`.
std::string render_region_times_csv(const Measurement& measurement);

}  // namespace bench::energy
