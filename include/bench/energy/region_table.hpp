#pragma once

#include <optional>
#include <string>
#include <vector>

#include <bench/energy/report.hpp>

namespace bench::energy {

/// Energy of a region over the additive channels, in joules; nothing unless every one of them has a
/// value.
std::optional<double> region_energy_j(const Measurement& measurement, std::size_t region);

/// `energy_region_<name>_wh`, `power_region_<name>_w` (mean) and `duration_region_<name>_s` of
/// every region.
std::vector<NameValue> region_summary(const Measurement& measurement);

/// A table with a row per region: how often, how long, its energy in total and by channel.
std::string render_regions_csv(const Measurement& measurement);

}  // namespace bench::energy
