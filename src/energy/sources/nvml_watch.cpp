#include <array>
#include <utility>

#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/sources/nvml_library.hpp>
#include <bench/energy/sources/nvml_watch.hpp>

namespace bench::energy {
namespace {

constexpr std::array<std::pair<unsigned long long, const char*>, 7> clock_reasons{{
    {0x02, "clock_setting"},
    {0x04, "power_cap"},
    {0x08, "hw_slowdown"},
    {0x10, "sync_boost"},
    {0x20, "sw_thermal"},
    {0x40, "hw_thermal"},
    {0x80, "power_brake"},
}};

}  // namespace

void add_state(const NvmlLibrary& library, nvml::Device device, GpuState& state) {
  unsigned value = 0;
  if (library.get_clock &&
      library.get_clock(device, nvml::clock_of_multiprocessors, &value) == nvml::success)
    state.clock_mhz.add(value);
  if (library.get_temperature &&
      library.get_temperature(device, nvml::sensor_of_gpu, &value) == nvml::success)
    state.temperature_c.add(value);
  if (library.get_power_limit && library.get_power_limit(device, &value) == nvml::success)
    state.power_limit_w.add(value * 1e-3);
  unsigned long long reasons = 0;
  if (!library.get_clock_reasons || library.get_clock_reasons(device, &reasons) != nvml::success)
    return;
  ++state.reads;
  for (const auto& [bit, name] : clock_reasons)
    if ((reasons & bit) != 0)
      ++state.throttled[name];
}

}  // namespace bench::energy
