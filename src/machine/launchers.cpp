#include "launchers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/machine/launch.hpp>
#include <bench/machine/platform.hpp>

namespace bench::platform {
namespace {

/// Masks and maps work only for jobs with whole nodes.
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

/// Gives each task its share of the GPUs that the job or the job step has. They are named as the
/// batch system names them: by their numbers on the node, or counted from 0 where it confines them.
std::string gpu_wrapper(const std::string& variable, const Resources& resources) {
  if (variable.empty() || resources.gpus_per_node == 0 || resources.tasks_per_node == 1)
    return "";
  return fmt::format(
      R"( bash -c 'IFS=, read -ra all <<< "${{{0}:-{1}}}"; n=${{#all[@]}}; k=$((n < {2} ? 1 : n / {2})); IFS=,; export {0}="${{all[*]:SLURM_LOCALID * n / {2}:k}}"; unset IFS; exec "$@"' bash)",
      variable, list_of_gpus(resources.gpus_per_node), resources.tasks_per_node);
}

/// srun does not take the size of a task from its job (since Slurm 22.05), so it gets all sizes as
/// options.
std::string srun_options(const Platform& platform, const Resources& resources, bool side_by_side) {
  std::string options = fmt::format(" --nodes={} --ntasks={} --ntasks-per-node={}", resources.nodes,
                                    resources.tasks(), resources.tasks_per_node);
  // Masks say which cores a task has; the number of them beside that confuses Slurm.
  if (resources.threads_per_task > 0 &&
      binding_option(platform.launcher.binding, resources, side_by_side).find(':') ==
          std::string::npos)
    options += fmt::format(" --cpus-per-task={}", resources.threads_per_task);
  // With a single task it would only hide the exit code.
  if (resources.kill_on_bad_exit && resources.tasks() > 1)
    options += " --kill-on-bad-exit=1";
  if (side_by_side) {
    options += " --exact --mem=0";  // without `--mem` a step takes all memory of the job
    if (const std::string gpus = gpu_option(platform, resources); !gpus.empty())
      options += " " + gpus;
  }
  return options;
}

/// Behind the options of the platform file, which may hold a binding, too.
std::string srun_binding(const Platform& platform, const Resources& resources, bool side_by_side) {
  const Binding& binding = platform.launcher.binding;
  return binding_option(binding, resources, side_by_side) +
         gpu_wrapper(binding.gpu_select, resources);
}

std::string jsrun_options(const Platform&, const Resources& resources, bool) {
  return resources.kill_on_bad_exit ? " --exit_on_error 1" : "";
}

constexpr std::array<LauncherKind, 2> launcher_kinds{{
    {.program = "srun", .starts_job_steps = true, .options = srun_options, .last = srun_binding},
    {.program = "jsrun", .options = jsrun_options},
}};

}  // namespace

const LauncherKind* launcher_kind(const std::string& command) {
  const std::string program =
      std::filesystem::path(command.substr(0, command.find(' '))).filename().string();
  const auto* const found = std::ranges::find(launcher_kinds, program, &LauncherKind::program);
  return found == launcher_kinds.end() ? nullptr : found;
}

std::string list_of_gpus(int count) {
  std::string list = "0";
  for (int k = 1; k < count; ++k)
    list += fmt::format(",{}", k);
  return list;
}

}  // namespace bench::platform
