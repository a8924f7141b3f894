#include <filesystem>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/energy/sources/nvml_devices.hpp>
#include <bench/energy/sources/nvml_library.hpp>
#include <bench/energy/sources/setting.hpp>
#include <bench/energy/sources/wanted.hpp>

namespace bench::energy {
namespace {

bool has_nvidia_driver(const std::vector<std::string>& libraries) {
  try {
    const NvmlLibrary library(libraries);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

Settings gpu_settings(const WantedSettings& wanted, const NvmlSettings& visible,
                      const std::filesystem::path& sysfs) {
  if (!wanted.gpu_power_limit_w && !wanted.gpu_clock_mhz)
    return {};
  Settings settings;
  if (wanted.gpu_power_limit_w)
    settings = amd_settings(*wanted.gpu_power_limit_w, sysfs);
  const bool is_amd =
      !settings.empty() || (has_amd_gpu(sysfs) && !has_nvidia_driver(visible.libraries));
  if (!is_amd)
    return nvidia_settings(wanted, visible);
  if (wanted.gpu_clock_mhz)
    throw Error("the clock of an AMD GPU cannot be set", "remove gpu_clock");
  if (settings.empty())
    throw Error("no AMD GPU that the program sees has a power limit",
                "check ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES, or remove gpu_power_limit");
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
