#include <filesystem>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/energy/settings/setting.hpp>
#include <bench/energy/settings/wanted.hpp>
#include <bench/energy/sources/nvml_devices.hpp>

namespace bench::energy {

Settings gpu_settings(const WantedSettings& wanted, const NvmlSettings& visible,
                      const std::filesystem::path& sysfs) {
  if (!wanted.gpu_power_limit_w && !wanted.gpu_clock_mhz)
    return {};
  Settings settings;
  if (wanted.gpu_power_limit_w)
    settings = amd_settings(*wanted.gpu_power_limit_w, sysfs);
  if (settings.empty())
    return nvidia_settings(wanted, visible);
  if (wanted.gpu_clock_mhz)
    throw Error("the clock of an AMD GPU cannot be set", "remove gpu_clock");
  return settings;
}

void set_all(Settings& settings) {
  for (auto setting = settings.begin(); setting != settings.end(); ++setting) {
    try {
      (*setting)->set();
    } catch (const Error&) {
      settings.erase(setting + 1,
                     settings.end());  // it may have been set before reading it back failed
      restore_all(settings);
      throw;
    }
  }
}

std::vector<std::string> restore_all(Settings& settings) {
  std::vector<std::string> failures;
  for (; !settings.empty(); settings.pop_back()) {
    try {
      settings.back()->restore();
    } catch (const Error& failure) {
      failures.push_back(failure.message());
    }
  }
  return failures;
}

}  // namespace bench::energy
