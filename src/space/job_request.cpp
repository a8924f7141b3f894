#include "launches.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/launch.hpp>
#include <bench/machine/machine.hpp>
#include <bench/machine/platform.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/job_settings.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>

namespace bench::space {
namespace {

using machine::GpuRequest;

int number(const RenderContext& context, const std::string& text, const char* what, int otherwise,
           int minimum) {
  const std::string substituted(strip(context.substitute(text)));
  if (substituted.empty())
    return otherwise;
  const auto parsed = parse_integer(substituted);
  constexpr int most = 10'000'000;
  if (!parsed || *parsed < minimum || *parsed > most)
    throw Error(Id::invalid_value,
                fmt::format("{} of step '{}' must be an integer of at least {}: {}", what,
                            context.step.name, minimum, substituted),
                "", context.step.batch->place);
  return static_cast<int>(*parsed);
}

/// Why the workpackages of a pack would share cores or GPUs; empty: each has its own.
std::string shared_in_pack(const RenderContext& context, const machine::Resources& resources) {
  const machine::Platform& machine = context.run.platform;
  if (!machine.capabilities().has_job_steps)
    return fmt::format("{} has no job steps", machine.scheduler);
  if (starts_programs(context) && !machine::starts_job_steps(machine.launcher.command))
    return fmt::format("{} does not start job steps", machine.launcher.command);
  if (!starts_programs(context) && resources.nodes > 1)
    return "without $jube_starter a job step has one node only";
  const bool asks =
      machine.gpu_request != GpuRequest::none && machine.gpu_request != GpuRequest::constraint;
  if (resources.gpus_per_node > 0 && !asks)
    return fmt::format("platform {} allocates GPUs only with whole nodes", machine.name);
  return "";
}

void check_fact(const machine::MaybeFact& fact, int wanted, const std::string& what,
                const RenderContext& context) {
  if (fact && !fact->unconfirmed && wanted > fact->value)
    throw Error(
        Id::machine_limit,
        fmt::format("step '{}' requests {} {}; platform {} has {}", context.step.name, wanted, what,
                    context.run.platform.name, fact->value),
        "`bench platforms show " + context.run.platform.name + "` shows what is known about it",
        context.step.batch->place);
}

/// Job steps do not share a core, so that each takes whole ones.
void separate(const RenderContext& context, JobRequest& request) {
  if (const std::string why = shared_in_pack(context, request.resources); !why.empty())
    throw Error(
        Id::conflict,
        fmt::format("the workpackages of a pack of step '{}' would share cores and GPUs: {}",
                    context.step.name, why),
        "remove `pack`", context.step.batch->place);
  const int of_core = threads_per_core(context.run, request.settings.at("partition")).value_or(1);
  if (of_core <= 1)
    return;
  machine::Resources& resources = request.resources;
  const int threads = std::max(1, resources.threads_per_task);
  resources.threads_per_task = (threads + of_core - 1) / of_core * of_core;
}

}  // namespace

std::optional<int> threads_per_core(const Run& run, const std::string& partition) {
  const machine::MaybeFact& known = run.platform.machine.threads_per_core;
  if (known && !known->unconfirmed)
    return static_cast<int>(known->value);
  const machine::Partition* const found = partition_of(run, partition);
  return found ? found->threads_per_core : std::nullopt;
}

bool starts_programs(const RenderContext& context) {
  return uses_launcher(context.step) && !context.run.platform.launcher.command.empty();
}

JobRequest job_request_of(const RenderContext& context) {
  const model::Batch& batch = *context.step.batch;
  JobRequest request;
  request.resources = {
      .nodes = number(context, batch.nodes, "nodes", 1, 1),
      .tasks_per_node = number(context, batch.tasks_per_node, "tasks_per_node", 1, 1),
      .threads_per_task = number(context, batch.threads_per_task, "threads_per_task", 0, 0),
      .gpus_per_node = number(context, batch.gpus_per_node, "gpus_per_node", 0, 0),
      .kill_on_bad_exit = batch.kill_on_bad_exit};
  request.settings = job_settings_of(context);
  request.options = option_lines(context);
  machine::Resources& resources = request.resources;
  if (batch.threads_per_task.empty() && resources.gpus_per_node > 0)
    resources.threads_per_task = machine::cores_of_gpus(
        context.run.platform, resources.gpus_per_node, resources.tasks_per_node);
  request.pack = number(context, batch.pack, "pack", 1, 1);
  if (request.pack > 1 && context.run.platform.capabilities().queues_jobs)
    separate(context, request);
  const machine::Machine& machine = context.run.platform.machine;
  check_fact(machine.nodes, resources.nodes, "nodes", context);
  check_fact(machine.devices_per_node, resources.gpus_per_node * request.pack, "GPUs on a node",
             context);
  const std::string limit = context.substitute(batch.time_limit);
  if (!limit.empty())
    request.time_limit_s = model::parse_time_limit_s(limit, batch.place);
  // Where the commands are one job, the step's `timeout` is a limit on it like the other.
  if (const std::string timeout = context.substitute(context.step.timeout); !timeout.empty()) {
    const double timeout_s = parse_duration_s(timeout, context.step.place);
    if (request.time_limit_s == 0 || timeout_s < request.time_limit_s)
      request.time_limit_s = timeout_s;
  }
  if (context.step.retry)
    request.time_limit_s *=
        std::pow(context.step.retry->time_limit_factor, context.workpackage.timeouts);
  return request;
}

}  // namespace bench::space
