#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include <bench/energy/core/power_source.hpp>

namespace bench::energy {

/// The node and its parts as the controller of an HPE Cray blade sees them, in the files
/// `<sysfs>/cray/pm_counters/*`: `pm_counters:node` with accelerators, memory and network, without
/// the losses of the rectifiers; `:cpu`, `:cpu0`, `:memory`, `:accel0` ... as parts of it, which
/// are recorded and not added. Power in watts and energy in joules, whole numbers, ten times a
/// second; a reading of them is repeated if the controller writes meanwhile.
///
/// A value whose own time stamp stands still, and 0 W, is not a reading. Counters are no longer
/// given once `startup` has changed, since they have been reset. A change of `generation` (a power
/// cap was set) adds to `notes`. Source: HPE Cray System Management documentation, User Access to
/// Compute Node Power Data.
/// @param longest_standstill_s how long a time stamp may stand still
/// @throws bench::Error if there are none, or none can be read
std::unique_ptr<PowerSource> open_pm_counters(const std::filesystem::path& sysfs,
                                              double longest_standstill_s = 2);

/// Calls `read` until `freshness` is the same before and after it, so that all values are of one
/// scan; three times at most, since values of two scans are better than none.
void read_one_scan(const std::function<std::optional<std::uint64_t>()>& freshness,
                   const std::function<void()>& read);

}  // namespace bench::energy
