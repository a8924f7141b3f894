#pragma once

#include <filesystem>
#include <memory>

#include <bench/energy/core/power_source.hpp>

namespace bench::energy {

/// CPU packages and their memory through the powercap files `<sysfs>/class/powercap/intel-rapl:*`
/// (AMD CPUs use the same name). Counters only, in microjoules, that wrap at max_energy_range_uj:
/// after four minutes on some CPUs, so that they are to be read at least every 10 s.
/// Channels: `rapl:package-0`, `rapl:package-0:dram`, `:core`, `:uncore`, `rapl:psys`.
/// Source: Linux Documentation/power/powercap/powercap.rst.
/// @throws bench::Error if there are none, or none can be read (root only since Linux 5.10)
std::unique_ptr<PowerSource> open_rapl(const std::filesystem::path& sysfs);

}  // namespace bench::energy
