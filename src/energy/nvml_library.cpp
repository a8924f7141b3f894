#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/nvml_library.hpp>
#include <bench/energy/shared_library.hpp>

namespace bench::energy {

NvmlLibrary::NvmlLibrary(const std::vector<std::string>& names) {
  void* const library = load_library(names, "no NVIDIA driver");
  int (*init)() = nullptr;
  resolve(library, init, "nvmlInit_v2");
  resolve(library, shutdown_, "nvmlShutdown");
  resolve(library, error_string_, "nvmlErrorString");
  resolve(library, get_count, "nvmlDeviceGetCount_v2");
  resolve(library, get_handle_by_index, "nvmlDeviceGetHandleByIndex_v2");
  resolve(library, get_uuid, "nvmlDeviceGetUUID");
  resolve(library, get_name, "nvmlDeviceGetName");
  resolve(library, get_architecture, "nvmlDeviceGetArchitecture");
  resolve(library, get_power_usage, "nvmlDeviceGetPowerUsage");
  resolve(library, get_total_energy, "nvmlDeviceGetTotalEnergyConsumption");
  resolve(library, get_field_values, "nvmlDeviceGetFieldValues");
  resolve(library, get_handle_by_uuid, "nvmlDeviceGetHandleByUUID");
  resolve(library, get_parent_of_mig, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
  resolve(library, get_driver_version, "nvmlSystemGetDriverVersion");
  resolve(library, get_utilization, "nvmlDeviceGetUtilizationRates");
  if (!init || !get_count || !get_handle_by_index || !get_uuid)
    throw Error("the NVIDIA management library lacks its basic functions");
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

}  // namespace bench::energy
