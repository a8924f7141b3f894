#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/energy/core/machine_state.hpp>

namespace bench::energy {

/// The part of NVIDIA's management library that is used here, loaded at run time. Names, layouts
/// and numbers as in the NVML API reference (API 12 and 13); declared here, so that building needs
/// no vendor header.
namespace nvml {

using Device = struct DeviceHandle*;

/// Return codes.
enum Code : int {
  success = 0,
  not_supported = 3,
  no_permission = 4,
  function_missing = 13,
  gpu_lost = 15,
  reset_required = 16,
  unknown = 999,
};

/// Fields of `GetFieldValues`, in milliwatts, and the scopes they are asked for.
inline constexpr unsigned field_power_average = 185;
inline constexpr unsigned field_power_instant = 186;
inline constexpr unsigned scope_gpu = 0;
inline constexpr unsigned scope_module = 1;

struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp_us;
  long long latency_us;
  int value_type;
  int code;
  union {
    double as_double;
    unsigned as_unsigned;
    unsigned long as_unsigned_long;
    unsigned long long as_unsigned_long_long;
    long long as_long_long;
    int as_int;
    unsigned short as_unsigned_short;
  } value;
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, value) == 32);

/// Of `GetClockInfo` and `GetTemperature`.
inline constexpr int clock_of_multiprocessors = 1;
inline constexpr int sensor_of_gpu = 0;

/// A value of `GetMigMode`.
inline constexpr unsigned mig_enabled = 1;

struct Utilization {
  unsigned gpu_percent;
  unsigned memory_percent;
};

/// Brands of `GetArchitecture` from which on `GetPowerUsage` is a mean over 1 s.
inline constexpr unsigned architecture_ampere = 7;
inline constexpr unsigned architecture_volta = 5;

}  // namespace nvml

/// The loaded and initialised library. A null member is a function that this driver does not have.
class NvmlLibrary {
 public:
  /// Loads the first of `names` that is there and initialises it.
  /// @throws bench::Error with the loader's or the library's message
  explicit NvmlLibrary(const std::vector<std::string>& names);
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;
  /// Shuts NVML down and leaves the library mapped: drivers do not expect to be unloaded.
  ~NvmlLibrary();

  /// `GPU is lost (NVML code 15)`.
  std::string message(int code) const;
  /// A text that the driver tells of a device; empty where it does not.
  static std::string text_of(int (*get)(nvml::Device, char*, unsigned), nvml::Device device);

  int (*get_count)(unsigned*) = nullptr;
  int (*get_handle_by_index)(unsigned, nvml::Device*) = nullptr;
  int (*get_uuid)(nvml::Device, char*, unsigned) = nullptr;
  int (*get_name)(nvml::Device, char*, unsigned) = nullptr;
  int (*get_architecture)(nvml::Device, unsigned*) = nullptr;
  int (*get_power_usage)(nvml::Device, unsigned*) = nullptr;             // mW
  int (*get_total_energy)(nvml::Device, unsigned long long*) = nullptr;  // mJ
  int (*get_field_values)(nvml::Device, int, nvml::FieldValue*) = nullptr;
  int (*get_handle_by_uuid)(const char*, nvml::Device*) = nullptr;
  int (*get_parent_of_mig)(nvml::Device, nvml::Device*) = nullptr;
  int (*get_mig_mode)(nvml::Device, unsigned* now, unsigned* after_reset) = nullptr;
  int (*get_driver_version)(char*, unsigned) = nullptr;
  int (*get_utilization)(nvml::Device, nvml::Utilization*) = nullptr;
  int (*get_clock)(nvml::Device, int, unsigned*) = nullptr;        // MHz
  int (*get_temperature)(nvml::Device, int, unsigned*) = nullptr;  // degrees Celsius
  int (*get_clock_reasons)(nvml::Device, unsigned long long*) = nullptr;
  int (*get_power_limit)(nvml::Device, unsigned*) = nullptr;                   // mW
  int (*get_power_limit_range)(nvml::Device, unsigned*, unsigned*) = nullptr;  // mW
  int (*set_power_limit)(nvml::Device, unsigned) = nullptr;                    // mW
  int (*lock_clocks)(nvml::Device, unsigned, unsigned) = nullptr;              // MHz
  int (*unlock_clocks)(nvml::Device) = nullptr;

 private:
  const char* (*error_string_)(int) = nullptr;
  int (*shutdown_)() = nullptr;
};

struct NvmlSettings {
  std::vector<std::string> libraries{"libnvidia-ml.so.1", "libnvidia-ml.so"};
  /// CUDA_VISIBLE_DEVICES; NVML itself does not look at it. None: every device.
  std::optional<std::string> visible_devices;
  std::string device_order;  ///< CUDA_DEVICE_ORDER
  /// The GPUs of the batch job by their numbers on the node, used where the former is not set: a
  /// batch system that does not hide the others tells them so. Where it does hide them, the numbers
  /// do not fit the devices that are left, and those are all the job's.
  std::optional<std::string> job_devices;
  bool several_tasks = false;  ///< The launcher has started more than this process.
  /// Seconds on the clock of the readings; none: the steady one.
  std::function<double()> now_s;
};

/// With CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER of this process's environment, and
/// SLURM_STEP_GPUS, else SLURM_JOB_GPUS. Source: srun(1), sbatch(1), output environment variables.
NvmlSettings nvml_settings_of_environment();

/// The devices that CUDA_VISIBLE_DEVICES selects, ascending: numbers count `uuids`, `GPU-...` is
/// the beginning of one of them. As CUDA does, stops at the first entry that names no device.
/// Source: CUDA C++ Programming Guide, CUDA environment variables.
std::vector<std::size_t> select_devices(const std::string& visible_devices,
                                        std::span<const std::string> uuids);

/// One GPU of those that the settings leave.
struct NvmlDevice {
  nvml::Device handle = nullptr;
  int index = 0;  ///< On this node.
  std::string uuid;
  bool partly_owned = false;  ///< Cut into MIG instances, of which the program has some.
};

/// A GPU that the settings leave and this process may not open.
struct ClosedDevice {
  int index = 0;
  std::string reason;
};

struct NvmlDevices {
  std::vector<NvmlDevice> selected;  ///< Ascending.
  std::vector<ClosedDevice> closed;  ///< Likewise.
  std::size_t count = 0;             ///< Of all that the driver shows.
  std::string doubt;  ///< Why the program may see others than those selected; empty: it does not.
};

inline constexpr const char* device_order_remedy = "export CUDA_DEVICE_ORDER=PCI_BUS_ID";

/// The GPUs that the settings leave: all where they say nothing.
///
/// GPUs that this process may not open belong to other programs if the batch job has as many GPUs
/// as can be opened, or if the launcher has started several tasks: each may see only its own. CUDA
/// counts the others then.
/// @param label precedes a device's number in a note, `nvml:`
///
/// Numbers in CUDA_VISIBLE_DEVICES are NVML's if CUDA_DEVICE_ORDER is PCI_BUS_ID, or if the GPUs
/// are all alike. Otherwise CUDA counts the fastest first. Source: CUDA C++ Programming Guide, CUDA
/// environment variables.
/// @param notes gets a line for every device that may not be opened, every MIG instance, and a
/// doubt
/// @throws bench::Error if NVML does not tell how many there are
NvmlDevices nvml_devices(const NvmlLibrary& library, const NvmlSettings& settings,
                         const std::string& label, std::vector<std::string>& notes);

/// Adds clock, temperature and reasons for a lower clock of one device, as far as its driver tells
/// them. That a device is idle is no such reason.
/// Source: NVML API reference, nvmlDeviceGetCurrentClocksEventReasons and its constants.
void add_state(const NvmlLibrary& library, nvml::Device device, GpuState& state);

}  // namespace bench::energy
