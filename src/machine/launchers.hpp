#pragma once

#include <string>
#include <string_view>

#include <bench/machine/launch.hpp>
#include <bench/machine/platform.hpp>

namespace bench::platform {

/// A program that starts others on the nodes of a job and needs more options than the platform file
/// has.
struct LauncherKind {
  std::string_view program;       ///< Its name, under whatever path.
  bool starts_job_steps = false;  ///< Programs side by side get cores and GPUs of their own.
  /// Options in front of those of the platform file, each with a blank before it.
  std::string (*options)(const Platform& platform, const Resources& resources, bool side_by_side);
  /// The same behind them, up to the program.
  std::string (*last)(const Platform& platform, const Resources& resources,
                      bool side_by_side) = nullptr;
};

/// The row of a command such as `/opt/bin/srun` or `flux run`; null where there is nothing to add.
const LauncherKind* launcher_kind(const std::string& command);

/// `0,1,2,3`.
std::string list_of_gpus(int count);

}  // namespace bench::platform
