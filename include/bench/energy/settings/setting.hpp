#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/energy/settings/wanted.hpp>
#include <bench/energy/sources/nvml_devices.hpp>

namespace bench::energy {

/// One setting of one device.
class Setting {
 public:
  Setting() = default;
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  virtual ~Setting() = default;

  /// Whose setting it is, such as `GPU 0`.
  virtual std::string device() const = 0;
  /// The same device for every process of this node.
  virtual std::string device_id() const = 0;
  /// Remembers what is set, sets what is wanted, and reads it back.
  /// @throws bench::Error with a hint, if it may not be set, or is not what was set
  virtual void set() = 0;
  /// Sets again what was set before.
  /// @throws bench::Error if that fails
  virtual void restore() = 0;
};

using Settings = std::vector<std::unique_ptr<Setting>>;

inline constexpr const char* permission_hint =
    "setting it needs root or an administrator's leave; leave the setting out, or ask the site for "
    "nodes on which jobs may set it";

/// Of every NVIDIA GPU that this process may use, see `nvml_devices`. The driver does not tell
/// which clocks are locked: these are unlocked afterwards.
/// @throws bench::Error if there is no GPU
Settings nvidia_settings(const WantedSettings& wanted, const NvmlSettings& visible);

/// The power limit of every AMD GPU that this process may use and that has one; may be empty.
Settings amd_settings(double limit_w, const std::filesystem::path& sysfs);

/// Of the AMD GPUs where there are any, otherwise of the NVIDIA GPUs: nodes have those of one
/// vendor.
/// @throws bench::Error if there is no GPU, or if it cannot be set
Settings gpu_settings(const WantedSettings& wanted, const NvmlSettings& visible,
                      const std::filesystem::path& sysfs);

/// The governor of every frequency domain below `sysfs`.
/// @throws bench::Error if there is none
Settings cpu_settings(const std::string& governor, const std::filesystem::path& sysfs);

/// Sets all; where one fails, restores those before it.
/// @throws as `Setting::set`
void set_all(Settings& settings);

/// Restores all, the last first.
/// @returns why one could not be restored, one line each
std::vector<std::string> restore_all(Settings& settings);

}  // namespace bench::energy
