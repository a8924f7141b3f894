#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/sources/nvml_library.hpp>

namespace bench::energy {

/// Settings that a run requests of the node's processors; absent ones are left unchanged.
struct WantedSettings {
  std::optional<double> gpu_power_limit_w;
  std::optional<double> gpu_clock_mhz;
  std::string cpu_governor;

  bool any() const { return gpu_power_limit_w || gpu_clock_mhz || !cpu_governor.empty(); }
};

/// One setting of one device.
class Setting {
 public:
  Setting() = default;
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  virtual ~Setting() = default;

  /// The device of the setting, such as `GPU 0`.
  virtual std::string device() const = 0;
  /// An id of the device that is the same in all processes on this node.
  virtual std::string device_id() const = 0;
  /// Saves the current value, sets the wanted one, and reads it back. @throws bench::Error with a
  /// hint if permission is missing, or if the value read back differs
  virtual void set() = 0;
  /// Restores the saved value.
  /// @throws bench::Error if that fails
  virtual void restore() = 0;
};

using Settings = std::vector<std::unique_ptr<Setting>>;

inline constexpr const char* permission_hint =
    "this needs root or an administrator's permission; remove the setting, or ask the site for "
    "nodes on which jobs may change it";

/// Settings of every NVIDIA GPU that this process may use, see `nvml_devices`. The driver does not
/// report locked clocks, so restoring unlocks them.
/// @throws bench::Error if there is no GPU
Settings nvidia_settings(const WantedSettings& wanted, const NvmlSettings& visible);

/// The power limit of every AMD GPU that this process may use and that has one; may be empty.
Settings amd_settings(double limit_w, const std::filesystem::path& sysfs);

/// Whether the node has one, even if this process may not use it.
bool has_amd_gpu(const std::filesystem::path& sysfs);

/// Settings of the AMD GPUs if there are any, otherwise of the NVIDIA GPUs: a node has GPUs of one
/// vendor.
/// @throws bench::Error if there is no GPU, or if its clock cannot be set
Settings gpu_settings(const WantedSettings& wanted, const NvmlSettings& visible,
                      const std::filesystem::path& sysfs);

/// The governor of every frequency domain below `sysfs`.
/// @throws bench::Error if there is none
Settings cpu_settings(const std::string& governor, const std::filesystem::path& sysfs);

/// Sets all; if one fails, restores the previous ones.
/// @throws as `Setting::set`
void set_all(Settings& settings);

/// Restores all in reverse order. @returns errors, one line each
std::vector<std::string> restore_all(Settings& settings);

/// The first argument that makes this program a guard.
inline constexpr const char* guard_command = "guard-settings";

/// Applies settings for its lifetime. A separate process in its own session, the guard, applies
/// them and restores them when this process ends, even by SIGKILL: it waits for end-of-file on a
/// pipe that only this process holds.
class SettingsGuard {
 public:
  /// Applies the settings, and returns when they are in effect.
  /// @param program of the guard, which calls `run_guard` if its first argument is `guard_command`
  /// @throws bench::Error with the guard's message if they cannot be applied
  SettingsGuard(const WantedSettings& wanted, const std::filesystem::path& sysfs,
                const std::filesystem::path& program = "/proc/self/exe");

  /// Restores them and waits for that. @returns errors, one line each
  std::vector<std::string> restore();

 private:
  std::string answer() const;

  UniqueFd hold_;     ///< The guard restores when this is closed.
  UniqueFd answers_;  ///< Lines from the guard.
};

/// Main function of the guard: leaves the session of its parent, applies the settings, reports on
/// standard output, and restores them at end-of-file on standard input.
/// @param arguments after `guard_command`
/// @returns the exit code
int run_guard(const std::vector<std::string>& arguments);

}  // namespace bench::energy
