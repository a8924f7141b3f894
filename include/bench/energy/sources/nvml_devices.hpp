#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/energy/sources/nvml_library.hpp>

namespace bench::energy {

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

}  // namespace bench::energy
