#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <bench/base/process.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/settings/wanted.hpp>

namespace bench::energy {

/// The first argument with which this program becomes a guard.
inline constexpr const char* guard_command = "guard-settings";

/// Keeps settings for as long as it lives. A process in a session of its own, the guard, makes them
/// and restores them when this process ends, however that comes: it waits for the end of a pipe
/// that only this process holds.
class SettingsGuard {
 public:
  /// Makes the settings, and returns when they are in force.
  /// @param program of the guard: what calls `run_guard` if its first argument is `guard_command`
  /// @throws bench::Error as the guard says, if they cannot be made
  SettingsGuard(const WantedSettings& wanted, const std::filesystem::path& sysfs,
                const std::filesystem::path& program = "/proc/self/exe");

  /// Has them restored and waits for that.
  /// @returns why some could not be, one line each
  std::vector<std::string> restore();

 private:
  std::string answer() const;

  UniqueFd hold_;     ///< The guard restores when this is closed.
  UniqueFd answers_;  ///< Lines from the guard.
};

/// What the guard does: leaves the session of its parent, makes the settings, says so on standard
/// output, and restores them at the end of standard input.
/// @param arguments behind `guard_command`
/// @returns the exit code
int run_guard(const std::vector<std::string>& arguments);

}  // namespace bench::energy
