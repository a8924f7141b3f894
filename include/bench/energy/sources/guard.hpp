#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <bench/base/process.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/sources/setting.hpp>

namespace bench::energy {

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
