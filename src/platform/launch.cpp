#include <algorithm>
#include <span>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/platform/job_template.hpp>
#include <bench/platform/launch.hpp>

namespace bench::platform {
namespace {

std::string counted(const std::string& type, int count) {
  return type.empty() ? std::to_string(count) : fmt::format("{}:{}", type, count);
}

std::string binding_option(const Binding& binding, const Resources& resources) {
  const auto tasks = static_cast<std::size_t>(resources.tasks_per_node);
  const auto masks = [&](const char* mode) -> std::string {
    const bool fits = tasks == binding.per_device.size() ||
                      (tasks < binding.per_device.size() && !binding.needs_whole_node);
    if (!fits)
      return "";
    return fmt::format(" --cpu-bind={}:{}", mode,
                       join(std::span(binding.per_device).first(tasks), ","));
  };
  switch (binding.mode) {
    case Binding::Mode::none:
      return "";
    case Binding::Mode::cores:
      return " --cpu-bind=cores";
    case Binding::Mode::sockets:
      return " --cpu-bind=sockets";
    case Binding::Mode::mask_cpu:
      return masks("mask_cpu");
    case Binding::Mode::map_cpu:
      return masks("map_cpu");
  }
  return "";
}

/// srun does not take the size of a task from its job (since Slurm 22.05), so it is told of all.
std::string srun_options(const Platform& platform, const Resources& resources, bool side_by_side) {
  std::string options = fmt::format(" --nodes={} --ntasks={} --ntasks-per-node={}", resources.nodes,
                                    resources.tasks(), resources.tasks_per_node);
  // Masks say which cores a task has; the number of them beside that confuses Slurm.
  if (resources.threads_per_task > 0 &&
      binding_option(platform.launcher.binding, resources).find(':') == std::string::npos)
    options += fmt::format(" --cpus-per-task={}", resources.threads_per_task);
  if (side_by_side) {
    options += " --exact --mem=0";  // without a word on memory a step takes all of the job's
    if (const std::string gpus = gpu_option(platform, resources); !gpus.empty())
      options += " " + gpus;
  }
  return options;
}

bool is_srun(const std::string& command) {
  return command == "srun" || command.ends_with("/srun");
}

}  // namespace

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
        throw Error(fmt::format("{} GPUs of a node cannot be shared out evenly among {} tasks",
                                gpus, resources.tasks_per_node),
                    fmt::format("platform {} gives GPUs to tasks", platform.name));
      return fmt::format("--gpus-per-task={}",
                         counted(platform.gpu_type, gpus / resources.tasks_per_node));
  }
  return "";
}

std::string constraint(const Platform& platform, const Resources& resources) {
  const bool for_gpus = platform.gpu_request == GpuRequest::constraint;
  return for_gpus && resources.gpus_per_node == 0 ? "" : platform.constraint;
}

std::string launch_line(const Platform& platform, const Resources& resources, bool side_by_side) {
  const Launcher& launcher = platform.launcher;
  if (launcher.command.empty())
    return "";
  const auto number = [](int value) { return value == 0 ? "" : std::to_string(value); };
  std::string line = launcher.command;
  if (is_srun(launcher.command))
    line += srun_options(platform, resources, side_by_side);
  if (!launcher.arguments.empty())
    line += " " + fill(launcher.arguments, "launcher.arguments of " + platform.name,
                       {{"nodes", number(resources.nodes)},
                        {"tasks", number(resources.tasks())},
                        {"tasks_per_node", number(resources.tasks_per_node)},
                        {"threads_per_task", number(resources.threads_per_task)},
                        {"gpus_per_node", number(resources.gpus_per_node)}});
  if (is_srun(launcher.command))
    line += binding_option(launcher.binding, resources);
  if (const std::string& variable = launcher.binding.gpu_select; !variable.empty())
    line += fmt::format(" bash -c 'export {}=${{SLURM_LOCALID:-0}}; exec \"$@\"' bash", variable);
  return line;
}

}  // namespace bench::platform
