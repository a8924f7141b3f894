#pragma once

#include <string>
#include <utility>
#include <vector>

#include <bench/energy/core/machine_state.hpp>

namespace bench::energy {

/// What is known of the machine, as names that begin with `machine_` and values: its load before,
/// CPUs that others used, governor, clocks, temperatures, reasons for lower clocks, and last
/// `machine_disturbance` where it was not quiet.
std::vector<std::pair<std::string, std::string>> machine_summary(const MachineState& machine);

}  // namespace bench::energy
