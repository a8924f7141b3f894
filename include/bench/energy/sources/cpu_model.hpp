#pragma once

#include <filesystem>
#include <memory>

#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/model.hpp>

namespace bench::energy {

/// An estimate for nodes without a sensor, `model:cpu` or `model:node`, from the utilisation of the
/// CPUs this process may run on, whoever uses them. As a counter:
///
///     energy_j = idle_w * seconds + (full_w - idle_w) * busy CPU seconds / number of CPUs
///
/// Busy is user, nice, system, irq, softirq and steal in `<proc>/stat` (proc(5); its unit is
/// 1/sysconf(_SC_CLK_TCK) s, guest time is part of user).
/// @throws bench::Error if the file cannot be read
std::unique_ptr<PowerSource> open_cpu_model(const PowerModel& model,
                                            const std::filesystem::path& proc = "/proc");

}  // namespace bench::energy
