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

/// Masks and maps are for jobs that have the node for themselves.
std::string binding_option(const Binding& binding, const Resources& resources, bool side_by_side) {
  const auto tasks = static_cast<std::size_t>(resources.tasks_per_node);
  const auto masks = [&](const char* mode) -> std::string {
    const bool fits = tasks == binding.per_device.size() ||
                      (tasks < binding.per_device.size() && !binding.needs_whole_node);
    if (!fits || side_by_side)
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

/// `0,1,2,3`.
std::string list_of_gpus(int count) {
  std::string list = "0";
  for (int k = 1; k < count; ++k)
    list += fmt::format(",{}", k);
  return list;
}

/// Gives each task its share of the GPUs that the job or the job step has. They are named as the
/// batch system names them: by their numbers on the node, or counted from 0 where it confines them.
std::string gpu_wrapper(const std::string& variable, const Resources& resources) {
  if (variable.empty() || resources.gpus_per_node == 0 || resources.tasks_per_node == 1)
    return "";
  return fmt::format(
      R"( bash -c 'IFS=, read -ra all <<< "${{{0}:-{1}}}"; n=${{#all[@]}}; k=$((n < {2} ? 1 : n / {2})); IFS=,; export {0}="${{all[*]:SLURM_LOCALID * n / {2}:k}}"; unset IFS; exec "$@"' bash)",
      variable, list_of_gpus(resources.gpus_per_node), resources.tasks_per_node);
}

/// srun does not take the size of a task from its job (since Slurm 22.05), so it is told of all.
std::string srun_options(const Platform& platform, const Resources& resources, bool side_by_side) {
  std::string options = fmt::format(" --nodes={} --ntasks={} --ntasks-per-node={}", resources.nodes,
                                    resources.tasks(), resources.tasks_per_node);
  // Masks say which cores a task has; the number of them beside that confuses Slurm.
  if (resources.threads_per_task > 0 &&
      binding_option(platform.launcher.binding, resources, side_by_side).find(':') ==
          std::string::npos)
    options += fmt::format(" --cpus-per-task={}", resources.threads_per_task);
  // For a single task it would only hide the exit code.
  if (resources.kill_on_bad_exit && resources.tasks() > 1)
    options += " --kill-on-bad-exit=1";
  if (side_by_side) {
    options += " --exact --mem=0";  // without a word on memory a step takes all of the job's
    if (const std::string gpus = gpu_option(platform, resources); !gpus.empty())
      options += " " + gpus;
  }
  return options;
}

bool is_program(const std::string& command, const std::string& name) {
  return command == name || command.ends_with("/" + name);
}

}  // namespace

bool is_srun(const std::string& command) {
  return is_program(command, "srun");
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
  const bool by_srun = is_srun(launcher.command);
  if (by_srun)
    line += srun_options(platform, resources, side_by_side);
  if (is_program(launcher.command, "jsrun") && resources.kill_on_bad_exit)
    line += " --exit_on_error 1";
  if (!launcher.arguments.empty())
    line += " " + fill(launcher.arguments, "launcher.arguments of " + platform.name,
                       {{"nodes", number(resources.nodes)},
                        {"tasks", number(resources.tasks())},
                        {"tasks_per_node", number(resources.tasks_per_node)},
                        {"threads_per_task", number(resources.threads_per_task)},
                        {"gpus_per_node", number(resources.gpus_per_node)}});
  if (by_srun)
    line += binding_option(launcher.binding, resources, side_by_side) +
            gpu_wrapper(launcher.binding.gpu_select, resources);
  return line;
}

}  // namespace bench::platform
