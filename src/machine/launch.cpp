#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/job_template.hpp>
#include <bench/machine/launch.hpp>
#include <bench/machine/platform.hpp>

namespace bench::machine {
namespace {

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

/// The row of a command such as `/opt/bin/srun` or `flux run`; null where there is nothing to add.
const LauncherKind* launcher_kind(const std::string& command) {
  const std::string program =
      std::filesystem::path(command.substr(0, command.find(' '))).filename().string();
  const auto* const found = std::ranges::find(launcher_kinds, program, &LauncherKind::program);
  return found == launcher_kinds.end() ? nullptr : found;
}

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
        throw Error(Id::conflict,
                    fmt::format("cannot divide the {} GPUs of a node evenly among {} tasks", gpus,
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

}  // namespace bench::machine
