#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <bench/energy/core/machine_state.hpp>

namespace bench::energy {
namespace {

/// Daemons use some of a node: less than one of these is quiet.
constexpr double quiet_cpus = 0.1;
constexpr double quiet_share = 0.01;
/// Reasons of NVML that say that something is wrong.
constexpr std::array<std::string_view, 4> faults{"hw_slowdown", "hw_thermal", "sw_thermal",
                                                 "power_brake"};

void add(std::string& text, const std::string& what) {
  text += (text.empty() ? "" : "; ") + what;
}

}  // namespace

std::string disturbance(const MachineState& machine) {
  std::string text;
  const CpuState& cpu = machine.cpu;
  if (cpu.other_cpus && *cpu.other_cpus > std::max(quiet_cpus, quiet_share * cpu.cpus))
    add(text, fmt::format("CPUs used by other programs: {:.1f} of {}", *cpu.other_cpus, cpu.cpus));
  if (cpu.governor.find(',') != std::string::npos)
    add(text, "CPUs have different governors: " + cpu.governor);
  if (cpu.throttled.value_or(0) > 0)
    add(text, fmt::format("a CPU was too hot for its clock, times: {}", *cpu.throttled));
  if (machine.gpu)
    for (const std::string_view fault : faults)
      if (const auto found = machine.gpu->throttled.find(std::string(fault));
          found != machine.gpu->throttled.end())
        add(text, fmt::format("a GPU lowered its clock ({}), share of the time: {:.0f} %", fault,
                              100.0 * static_cast<double>(found->second) /
                                  static_cast<double>(machine.gpu->reads)));
  return text;
}

}  // namespace bench::energy
