#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/sources/cpu_sensors.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {
namespace {

/// Read in one pass.
constexpr std::size_t most_clocks = 8;
/// Drivers whose first temperature is the package temperature.
constexpr std::array<std::string_view, 4> thermal_drivers{"coretemp", "k10temp", "zenpower",
                                                          "cpu_thermal"};

bool is_cpu(const std::filesystem::path& entry) {
  const std::string name = entry.filename().string();
  return name.size() > 3 &&
         std::all_of(name.begin() + 3, name.end(), [](unsigned char c) { return std::isdigit(c); });
}

}  // namespace

CpuSensors::CpuSensors(const std::filesystem::path& sysfs) {
  std::set<std::string> governors;
  for (const auto& policy : entries(sysfs / "devices/system/cpu/cpufreq", "policy")) {
    if (const std::string governor = first_line(policy / "scaling_governor"); !governor.empty())
      governors.insert(governor);
    if (SysfsNumber clock(policy / "scaling_cur_freq"); clock.exists())
      clocks_.push_back(std::move(clock));
  }
  governor_ = join(std::vector<std::string>(governors.begin(), governors.end()), ",");
  for (const auto& hwmon : entries(sysfs / "class/hwmon", "hwmon"))
    if (std::ranges::count(thermal_drivers, first_line(hwmon / "name")) > 0)
      temperatures_.emplace_back(hwmon / "temp1_input");
  std::set<std::string> packages;
  for (const auto& cpu : entries(sysfs / "devices/system/cpu", "cpu"))
    if (is_cpu(cpu) && packages.insert(first_line(cpu / "topology/physical_package_id")).second)
      if (SysfsNumber count(cpu / "thermal_throttle/package_throttle_count"); count.exists())
        throttles_.push_back(std::move(count));
  throttles_before_ = throttles();
}

std::optional<std::uint64_t> CpuSensors::throttles() const {
  std::optional<std::uint64_t> sum;
  std::string ignored;
  for (const SysfsNumber& file : throttles_)
    if (const auto count = file.read(ignored))
      sum = sum.value_or(0) + *count;
  return sum;
}

void CpuSensors::read(CpuState& state) {
  state.governor = governor_;
  std::string ignored;
  for (std::size_t k = 0; k < std::min(most_clocks, clocks_.size()); ++k) {
    if (const auto clock_khz = clocks_[next_clock_].read(ignored))
      state.clock_mhz.add(static_cast<double>(*clock_khz) / 1000);
    next_clock_ = (next_clock_ + 1) % clocks_.size();
  }
  std::optional<std::uint64_t> hottest;
  for (const SysfsNumber& file : temperatures_)
    if (const auto temperature = file.read(ignored))
      hottest = std::max(hottest.value_or(0), *temperature);
  if (hottest)
    state.temperature_c.add(static_cast<double>(*hottest) / 1000);
}

void CpuSensors::close(CpuState& state) const {
  const auto now = throttles();
  if (now && throttles_before_ && *now >= *throttles_before_)
    state.throttled = *now - *throttles_before_;
}

}  // namespace bench::energy
