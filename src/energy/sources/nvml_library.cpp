#include <array>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/sources/nvml_library.hpp>
#include <bench/energy/sources/shared_library.hpp>

namespace bench::energy {

NvmlLibrary::NvmlLibrary(const std::vector<std::string>& names) {
  int (*init)() = nullptr;
  load_library(
      {.names = names, .product = "the NVIDIA management library", .absence = "no NVIDIA driver"},
      {{init, "nvmlInit_v2", Need::required},
       {shutdown_, "nvmlShutdown"},
       {error_string_, "nvmlErrorString"},
       {get_count, "nvmlDeviceGetCount_v2", Need::required},
       {get_handle_by_index, "nvmlDeviceGetHandleByIndex_v2", Need::required},
       {get_uuid, "nvmlDeviceGetUUID", Need::required},
       {get_name, "nvmlDeviceGetName"},
       {get_architecture, "nvmlDeviceGetArchitecture"},
       {get_power_usage, "nvmlDeviceGetPowerUsage"},
       {get_total_energy, "nvmlDeviceGetTotalEnergyConsumption"},
       {get_field_values, "nvmlDeviceGetFieldValues"},
       {get_handle_by_uuid, "nvmlDeviceGetHandleByUUID"},
       {get_parent_of_mig, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle"},
       {get_mig_mode, "nvmlDeviceGetMigMode"},
       {get_driver_version, "nvmlSystemGetDriverVersion"},
       {get_utilization, "nvmlDeviceGetUtilizationRates"},
       {get_clock, "nvmlDeviceGetClockInfo"},
       {get_temperature, "nvmlDeviceGetTemperature"},
       // Newer drivers call them event reasons, and keep the old name.
       {get_clock_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons"},
       {get_power_limit, "nvmlDeviceGetPowerManagementLimit"},
       {get_power_limit_range, "nvmlDeviceGetPowerManagementLimitConstraints"},
       {set_power_limit, "nvmlDeviceSetPowerManagementLimit"},
       {lock_clocks, "nvmlDeviceSetGpuLockedClocks"},
       {unlock_clocks, "nvmlDeviceResetGpuLockedClocks"}});
  if (const int code = init(); code != nvml::success)
    throw Error(fmt::format("nvmlInit: {}", message(code)));
}

NvmlLibrary::~NvmlLibrary() {
  if (shutdown_)
    shutdown_();
}

std::string NvmlLibrary::message(int code) const {
  const char* const text = error_string_ ? error_string_(code) : nullptr;
  return fmt::format("{} (NVML code {})", text ? text : "error", code);
}

std::string NvmlLibrary::text_of(int (*get)(nvml::Device, char*, unsigned), nvml::Device device) {
  std::array<char, 128> buffer{};
  if (!get || get(device, buffer.data(), static_cast<unsigned>(buffer.size())) != nvml::success)
    return "";
  return buffer.data();
}

}  // namespace bench::energy
