#include <filesystem>
#include <string>
#include <utility>

#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/sources/amd_watch.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {
namespace {

SysfsNumber temperature_in(const SysfsDirectory& hwmon) {
  SysfsNumber edge = hwmon.number("temp1_input");
  return edge.exists() ? std::move(edge) : hwmon.number("temp2_input");
}

}  // namespace

std::filesystem::path amd_hwmon(const std::filesystem::path& device) {
  const auto found = entries(device / "hwmon", "hwmon");
  return found.empty() ? std::filesystem::path() : found.front();
}

AmdWatch::AmdWatch(const std::filesystem::path& device)
    : AmdWatch(SysfsDirectory(amd_hwmon(device).string())) {}

AmdWatch::AmdWatch(const SysfsDirectory& hwmon)
    : clock_(hwmon.number("freq1_input")),
      temperature_(temperature_in(hwmon)),
      power_limit_(hwmon.number("power1_cap")) {}

void AmdWatch::read(GpuState& state) const {
  const auto add = [](const SysfsNumber& file, double unit, Spread& spread) {
    std::string ignored;
    if (const auto value = file.read(ignored))
      spread.add(static_cast<double>(*value) * unit);
  };
  add(clock_, 1e-6, state.clock_mhz);
  add(temperature_, 1e-3, state.temperature_c);
  add(power_limit_, 1e-6, state.power_limit_w);
}

}  // namespace bench::energy
