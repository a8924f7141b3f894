#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/program/machine_summary.hpp>

namespace bench::energy {
namespace {

class Lines {
 public:
  void add(const std::string& name, const std::string& value) {
    if (!value.empty())
      lines_.emplace_back("machine_" + name, value);
  }

  template <class Number>
  void add(const std::string& name, const std::optional<Number>& value) {
    if (value)
      add(name, fmt::format("{:.4g}", static_cast<double>(*value)));
  }

  void add_clock(const std::string& device, const Spread& clock_mhz) {
    if (clock_mhz.count == 0)
      return;
    add(device + "_clock_mhz", std::optional(clock_mhz.mean()));
    add(device + "_clock_min_mhz", std::optional(clock_mhz.least));
  }

  void add_temperature(const std::string& device, const Spread& temperature_c) {
    if (temperature_c.count == 0)
      return;
    add(device + "_temperature_start_c", std::optional(temperature_c.first));
    add(device + "_temperature_max_c", std::optional(temperature_c.most));
  }

  std::vector<std::pair<std::string, std::string>> take() { return std::move(lines_); }

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

/// `power_cap 92 %, sw_thermal 3 %`, or `none`.
std::string throttling(const GpuState& gpu) {
  std::string text;
  for (const auto& [reason, reads] : gpu.throttled)
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", reason,
                        100.0 * static_cast<double>(reads) / static_cast<double>(gpu.reads));
  return text.empty() ? "none" : text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> machine_summary(const MachineState& machine) {
  Lines lines;
  const CpuState& cpu = machine.cpu;
  if (cpu.cpus > 0)
    lines.add("cpus", std::to_string(cpu.cpus));
  lines.add("load", cpu.load);
  lines.add("other_cpus", cpu.other_cpus);
  lines.add("governor", cpu.governor);
  lines.add_clock("cpu", cpu.clock_mhz);
  lines.add_temperature("cpu", cpu.temperature_c);
  lines.add("cpu_throttled", cpu.throttled);
  if (machine.gpu) {
    if (machine.gpu->power_limit_w.count > 0)
      lines.add("gpu_power_limit_w", std::optional(machine.gpu->power_limit_w.least));
    lines.add_clock("gpu", machine.gpu->clock_mhz);
    lines.add_temperature("gpu", machine.gpu->temperature_c);
    if (machine.gpu->reads > 0)
      lines.add("gpu_throttle", throttling(*machine.gpu));
  }
  lines.add("disturbance", disturbance(machine));
  return lines.take();
}

}  // namespace bench::energy
