#pragma once

#include <filesystem>
#include <memory>

#include <bench/energy/power_source.hpp>

namespace bench::energy {

/// An estimate for nodes without a CPU sensor: `power = stated watts * utilisation`, where the
/// utilisation is that of the CPUs this process may run on, whoever uses them. As a counter:
///
///     energy_j = power_w * busy CPU seconds / number of CPUs
///
/// Busy is user, nice, system, irq, softirq and steal in `<proc>/stat` (proc(5); its unit is
/// 1/sysconf(_SC_CLK_TCK) s, guest time is part of user). Idle power is not in the model.
/// @param power_w what the CPUs draw when all are busy
/// @throws bench::Error if the file cannot be read
std::unique_ptr<PowerSource> open_cpu_model(double power_w,
                                            const std::filesystem::path& proc = "/proc");

}  // namespace bench::energy
