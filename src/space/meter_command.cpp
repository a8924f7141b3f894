#include "meter_command.hpp"

#include <filesystem>
#include <string>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/render_context.hpp>

namespace bench::job {
namespace {

namespace fs = std::filesystem;

/// What the user named for the run, else the step, else the platform.
std::string methods_of(const RenderContext& context) {
  if (const std::string& wanted = context.run.metadata.power_source; !wanted.empty())
    return wanted;
  std::string methods = context.substitute(context.step.energy->methods);
  energy::check_methods(methods, context.step.energy->place);
  const std::string& of_platform = context.run.platform.energy;
  return methods == "auto" && !of_platform.empty() ? of_platform : methods;
}

/// The meter's options for them; nothing for a setting that a parameter leaves empty.
/// @param pack workpackages that share the job
std::string power_settings(const RenderContext& context, int pack) {
  const model::PowerSettings& power = context.step.power;
  std::string options;
  const auto add = [&](const char* option, const std::string& text, auto* check) {
    const std::string value = context.substitute(text);
    if (value.empty())
      return;
    check(value, context.step.place);
    options += fmt::format(" {} {}", option, shell_quote(value));
  };
  add("--gpu-power-limit", power.gpu_power_limit, energy::check_gpu_power_limit);
  add("--gpu-clock", power.gpu_clock, energy::check_gpu_clock);
  if (pack > 1 && !context.substitute(power.cpu_governor).empty())  // one would undo the other's
    throw Error("workpackages that share a job cannot each set the governor of its CPUs",
                "remove `cpu_governor` or `pack`", context.step.place);
  add("--cpu-governor", power.cpu_governor, energy::check_cpu_governor);
  return options;
}

/// Whether other job steps of an allocation may run on the same nodes.
bool shares_allocation(const RenderContext& context, const JobRequest& request) {
  return context.run.platform.capabilities().fills_allocation &&
         request.settings.at("exclusive").empty();
}

/// Whether the launcher gives each task of a node GPUs that the others do not see.
bool divides_gpus(const RenderContext& context, const JobRequest& request) {
  return context.run.platform.gpu_request == platform::GpuRequest::gpus_per_task &&
         request.resources.gpus_per_node > 0 && request.resources.tasks_per_node > 1;
}

/// Checks what parameters have made of the settings, so that nobody queues for the meter's refusal.
/// @param per_node one meter on each node sees all that the tasks use
std::string meter(const RenderContext& context, const JobRequest& request, const fs::path& out,
                  bool per_node) {
  const model::Energy& asked = *context.step.energy;
  const std::string interval = context.substitute(asked.interval);
  energy::check_interval(interval, asked.place);
  std::string options;
  if (const std::string baseline = context.substitute(asked.baseline); !baseline.empty()) {
    energy::check_baseline(baseline, asked.place);
    options += " --baseline " + shell_quote(baseline);
  }
  if (const std::string thermal = context.substitute(asked.thermal); !thermal.empty()) {
    energy::check_thermal(thermal, asked.place);
    options += " --thermal " + shell_quote(thermal);
  }
  if (per_node)
    options += " --per-node";
  const std::string settings = power_settings(context, request.pack);
  if (!per_node && !settings.empty())
    throw Error(fmt::format("no task of step '{}' sees all GPUs of a node, so no meter can set and "
                            "restore what the tasks use",
                            context.step.name),
                fmt::format("platform {} gives GPUs to tasks: use another gpu_request, or one task "
                            "per node",
                            context.run.platform.name),
                context.step.place);
  options += settings;
  if (request.pack > 1 || shares_allocation(context, request))
    options += " --shared-node";
  return fmt::format("bench-energy --method {} --interval {}{} --record {} --regions --out {} --",
                     shell_quote(methods_of(context)), shell_quote(interval), options,
                     shell_quote((context.run.directory.path / "environment").string()),
                     shell_quote(out.string()));
}

}  // namespace

std::string meter_of_commands(const RenderContext& context, const JobRequest& request,
                              const fs::path& out) {
  return meter(context, request, out, context.step.energy->per_node);
}

std::string meter_of_tasks(const RenderContext& context, const JobRequest& request,
                           const fs::path& out) {
  return meter(context, request, out,
               context.step.energy->per_node && !divides_gpus(context, request));
}

}  // namespace bench::job
