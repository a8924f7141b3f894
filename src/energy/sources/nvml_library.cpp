#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/sources/claims.hpp>
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
    throw Error(Id::no_meter, fmt::format("nvmlInit: {}", message(code)));
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

namespace {

/// MIG instances have no power of their own: each is replaced by the GPU it is a part of.
/// @param parents gets the UUIDs of those GPUs
std::string with_parents_of_mig(const NvmlLibrary& library, const std::string& visible_devices,
                                std::set<std::string>& parents, std::vector<std::string>& notes) {
  std::vector<std::string> names = split_names(visible_devices);
  for (std::string& name : names) {
    nvml::Device instance = nullptr;
    nvml::Device gpu = nullptr;
    if (!name.starts_with("MIG-") || !library.get_handle_by_uuid || !library.get_parent_of_mig ||
        library.get_handle_by_uuid(name.c_str(), &instance) != nvml::success ||
        library.get_parent_of_mig(instance, &gpu) != nvml::success)
      continue;
    notes.push_back(fmt::format("{} is measured with the rest of its GPU", name));
    name = NvmlLibrary::text_of(library.get_uuid, gpu);
    parents.insert(name);
  }
  return join(names, ",");
}

/// A program gets one instance of such a GPU, however it is chosen.
bool is_in_instances(const NvmlLibrary& library, nvml::Device device) {
  unsigned now = 0;
  unsigned after_reset = 0;
  return library.get_mig_mode &&
         library.get_mig_mode(device, &now, &after_reset) == nvml::success &&
         now == nvml::mig_enabled;
}

std::vector<std::size_t> selected_indices(const NvmlSettings& settings,
                                          std::span<const std::string> uuids) {
  if (settings.visible_devices)
    return select_devices(*settings.visible_devices, uuids);
  if (settings.job_devices)
    if (auto of_job = select_devices(*settings.job_devices, uuids);
        of_job.size() == split_names(*settings.job_devices).size())
      return of_job;
  std::vector<std::size_t> all(uuids.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// Whether a number may be another GPU for CUDA than for NVML, which counts by PCI address.
bool is_order_uncertain(const NvmlLibrary& library, const NvmlSettings& settings,
                        std::span<const nvml::Device> handles) {
  if (!settings.visible_devices || settings.device_order == "PCI_BUS_ID" ||
      std::ranges::none_of(split_names(*settings.visible_devices),
                           [](const std::string& name) { return parse_integer(name).has_value(); }))
    return false;
  std::set<std::string> products;
  for (const nvml::Device device : handles)
    products.insert(NvmlLibrary::text_of(library.get_name, device));
  return products.size() > 1;
}

}  // namespace

NvmlSettings nvml_settings_of_environment() {
  NvmlSettings settings;
  if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES"))
    settings.visible_devices = visible;
  if (const char* const order = std::getenv("CUDA_DEVICE_ORDER"))
    settings.device_order = order;
  for (const char* name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"})
    if (const char* const value = std::getenv(name); value && *value && !settings.job_devices)
      settings.job_devices = value;
  settings.several_tasks = task_count().value_or(1) > 1;
  return settings;
}

std::vector<std::size_t> select_devices(const std::string& visible_devices,
                                        std::span<const std::string> uuids) {
  std::set<std::size_t> selected;
  for (const std::string& name : split_names(visible_devices)) {
    std::size_t device = uuids.size();
    if (const auto number = parse_integer(name); number && *number >= 0)
      device = static_cast<std::size_t>(*number);
    else if (name.starts_with("GPU-"))
      device = static_cast<std::size_t>(
          std::find_if(uuids.begin(), uuids.end(),
                       [&](const std::string& uuid) { return uuid.starts_with(name); }) -
          uuids.begin());
    if (device >= uuids.size())
      break;
    selected.insert(device);
  }
  return {selected.begin(), selected.end()};
}

NvmlDevices nvml_devices(const NvmlLibrary& library, const NvmlSettings& settings,
                         const std::string& label, std::vector<std::string>& notes) {
  unsigned count = 0;
  if (const int code = library.get_count(&count); code != nvml::success)
    throw Error(Id::no_meter, fmt::format("nvmlDeviceGetCount: {}", library.message(code)));
  std::vector<nvml::Device> handles;
  std::vector<NvmlDevice> all;
  std::vector<ClosedDevice> closed;
  for (int i = 0; i < static_cast<int>(count); ++i) {
    NvmlDevice device{.handle = nullptr, .index = i};
    const int code = library.get_handle_by_index(static_cast<unsigned>(i), &device.handle);
    if (code == nvml::success) {
      device.uuid = NvmlLibrary::text_of(library.get_uuid, device.handle);
      handles.push_back(device.handle);
    } else {
      device.handle = nullptr;
      closed.push_back({.index = i, .reason = library.message(code)});
      notes.push_back(fmt::format("{}{}: {}", label, i, closed.back().reason));
    }
    all.push_back(device);
  }
  const bool are_anothers =
      settings.several_tasks ||
      (settings.job_devices && split_names(*settings.job_devices).size() == handles.size());
  if (are_anothers)
    std::erase_if(all, [](const NvmlDevice& device) { return !device.handle; });
  NvmlSettings whole = settings;
  std::set<std::string> parents_of_mig;
  if (settings.visible_devices)
    whole.visible_devices =
        with_parents_of_mig(library, *settings.visible_devices, parents_of_mig, notes);
  std::vector<std::string> uuids;
  for (const NvmlDevice& device : all)
    uuids.push_back(device.uuid);
  NvmlDevices devices{.selected = {}, .closed = {}, .count = count};
  for (const std::size_t i : selected_indices(whole, uuids)) {
    NvmlDevice& device = all[i];
    device.partly_owned = device.handle && (parents_of_mig.contains(device.uuid) ||
                                            is_in_instances(library, device.handle));
    if (device.handle)
      devices.selected.push_back(device);
    else
      devices.closed.push_back(*std::ranges::find(closed, device.index, &ClosedDevice::index));
  }
  if (devices.selected.size() < count && is_order_uncertain(library, settings, handles)) {
    devices.doubt = fmt::format(
        "CUDA_VISIBLE_DEVICES={} may select other GPUs for the program: they are not all alike, "
        "and CUDA counts the fastest first",
        *settings.visible_devices);
    notes.push_back(fmt::format("{}; {}", devices.doubt, device_order_remedy));
  }
  return devices;
}

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
