#include "launchers.hpp"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/machine/job_template.hpp>
#include <bench/machine/launch.hpp>
#include <bench/machine/machine.hpp>
#include <bench/machine/platform.hpp>

namespace bench::platform {
namespace {

std::string counted(const std::string& type, int count) {
  return type.empty() ? std::to_string(count) : fmt::format("{}:{}", type, count);
}

}  // namespace

bool starts_job_steps(const std::string& command) {
  const LauncherKind* kind = launcher_kind(command);
  return kind && kind->starts_job_steps;
}

Resources Resources::times(int count) const {
  Resources sum = *this;
  sum.tasks_per_node *= count;
  sum.gpus_per_node *= count;
  return sum;
}

std::string gpu_option(const Platform& platform, const Resources& resources) {
  const int gpus = resources.gpus_per_node;
  if (gpus == 0)
    return "";
  switch (platform.gpu_request) {
    case GpuRequest::none:
    case GpuRequest::constraint:
      return "";
    case GpuRequest::gres:
      return fmt::format("--gres=gpu:{}", counted(platform.gpu_type, gpus));
    case GpuRequest::gpus_per_node:
      return fmt::format("--gpus-per-node={}", counted(platform.gpu_type, gpus));
    case GpuRequest::gpus_per_task:
      if (gpus % resources.tasks_per_node != 0)
        throw Error(fmt::format("cannot divide the {} GPUs of a node evenly among {} tasks", gpus,
                                resources.tasks_per_node),
                    fmt::format("platform {} gives GPUs to tasks", platform.name));
      return fmt::format("--gpus-per-task={}",
                         counted(platform.gpu_type, gpus / resources.tasks_per_node));
  }
  return "";
}

int cores_of_gpus(const Platform& platform, int gpus_per_node, int tasks_per_node) {
  const MaybeFact& cores = platform.machine.cores_per_node;
  const MaybeFact& devices = platform.machine.devices_per_node;
  if (!cores || cores->unconfirmed || !devices || devices->unconfirmed || devices->value < 1)
    return 0;
  const double share = std::min(1.0, gpus_per_node / devices->value);
  return std::max(1, static_cast<int>(cores->value * share / tasks_per_node));
}

std::string gpu_export(const Platform& platform, const Resources& resources) {
  if (platform.gpu_variable.empty() || resources.gpus_per_node == 0)
    return "";
  return fmt::format("export {0}=\"${{{0}:-{1}}}\"\n", platform.gpu_variable,
                     list_of_gpus(resources.gpus_per_node));
}

std::string constraint(const Platform& platform, const Resources& resources,
                       const std::string& wanted) {
  if (platform.gpu_request != GpuRequest::constraint)
    return wanted;
  const bool is_own = wanted != platform.constraint;
  if (resources.gpus_per_node == 0)
    return is_own ? wanted : "";
  return is_own ? platform.constraint + "&" + wanted : wanted;
}

std::string launch_line(const Platform& platform, const Resources& resources, bool side_by_side) {
  const Launcher& launcher = platform.launcher;
  if (launcher.command.empty())
    return "";
  const auto number = [](int value) { return value == 0 ? "" : std::to_string(value); };
  std::string line = launcher.command;
  const LauncherKind* kind = launcher_kind(launcher.command);
  if (kind)
    line += kind->options(platform, resources, side_by_side);
  if (!launcher.arguments.empty())
    line += " " + fill(launcher.arguments, "launcher.arguments of " + platform.name,
                       {{"nodes", number(resources.nodes)},
                        {"tasks", number(resources.tasks())},
                        {"tasks_per_node", number(resources.tasks_per_node)},
                        {"threads_per_task", number(resources.threads_per_task)},
                        {"gpus_per_node", number(resources.gpus_per_node)}});
  if (kind && kind->last)
    line += kind->last(platform, resources, side_by_side);
  return line;
}

}  // namespace bench::platform
