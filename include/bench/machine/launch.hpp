#pragma once

#include <compare>
#include <string>

#include <bench/machine/platform.hpp>

namespace bench::machine {

/// Resources that one workpackage requests.
struct Resources {
  int nodes = 1;
  int tasks_per_node = 1;
  int threads_per_task = 0;      ///< 0: not given.
  int gpus_per_node = 0;         ///< 0: none.
  bool kill_on_bad_exit = true;  ///< A task that fails ends the others.

  auto operator<=>(const Resources&) const = default;

  int tasks() const { return nodes * tasks_per_node; }
  /// Resources of several workpackages side by side on the same nodes.
  Resources times(int count) const;
};

/// Whether programs that a launcher starts side by side in a job have cores and GPUs of their own.
bool starts_job_steps(const std::string& command);

/// The option that requests GPUs, such as `--gres=gpu:4`; empty if none is needed.
/// @throws Error where the platform gives GPUs to tasks and they cannot be divided evenly
std::string gpu_option(const Platform& platform, const Resources& resources);

/// The cores of a task that has its share of a node's GPUs, by the platform's cores per device; 0
/// where that is not known for certain.
int cores_of_gpus(const Platform& platform, int gpus_per_node, int tasks_per_node);

/// The line that sets the variable with the GPUs of a job, if the platform has one and the batch
/// system did not set it; empty otherwise.
std::string gpu_export(const Platform& platform, const Resources& resources);

/// The words for `--constraint`, GPUs included.
/// @param wanted feature of the nodes that the job asks for: the platform's, or the step's own
std::string constraint(const Platform& platform, const Resources& resources,
                       const std::string& wanted);

/// The text before a program that runs on all tasks: the platform's launcher with its
/// arguments, the binding to cores and the selection of devices. Empty where the platform has no
/// launcher. In the launcher's arguments `{{nodes}}`, `{{tasks}}`, `{{tasks_per_node}}`,
/// `{{threads_per_task}}` and `{{gpus_per_node}}` are replaced; bench gives some launchers these
/// numbers anyway.
/// @param side_by_side other workpackages run in the same job: a job step takes no more than this
/// one's
/// @throws Error as `gpu_option`, or where a replacement has no value
std::string launch_line(const Platform& platform, const Resources& resources, bool side_by_side);

}  // namespace bench::machine
