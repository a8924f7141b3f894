#include "geometry.hpp"

#include "starters.hpp"

#include <cmath>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>

namespace bench::engine {
namespace {

using platform::GpuRequest;
using platform::Scheduler;

int number(const Scope& scope, const std::string& text, const char* what, int otherwise,
           int minimum) {
  const std::string substituted(strip(scope.substitute(text)));
  if (substituted.empty())
    return otherwise;
  const auto parsed = parse_integer(substituted);
  constexpr int most = 10'000'000;
  if (!parsed || *parsed < minimum || *parsed > most)
    throw Error(fmt::format("{} of step '{}' is not a whole number from {} on: {}", what,
                            scope.step.name, minimum, substituted),
                "", scope.step.batch->place);
  return static_cast<int>(*parsed);
}

/// Why the workpackages of a pack would share cores or GPUs; empty: each has its own.
std::string shared_in_pack(const Scope& scope, const platform::Resources& resources) {
  const platform::Platform& machine = scope.run.platform;
  if (machine.scheduler != Scheduler::slurm)
    return fmt::format("{} has no job steps", machine.scheduler_name);
  if (starts_programs(scope) && !platform::is_srun(machine.launcher.command))
    return fmt::format("{} starts no job steps of Slurm", machine.launcher.command);
  if (!starts_programs(scope) && resources.nodes > 1)
    return "without $jube_starter a job step has one node only";
  const bool asks =
      machine.gpu_request != GpuRequest::none && machine.gpu_request != GpuRequest::constraint;
  if (resources.gpus_per_node > 0 && !asks)
    return fmt::format("platform {} gives GPUs by whole nodes", machine.name);
  return "";
}

void check_fact(const platform::MaybeFact& fact, int wanted, const std::string& what,
                const Scope& scope) {
  if (fact && !fact->unconfirmed && wanted > fact->value)
    throw Error(fmt::format("step '{}' asks for {} {}; platform {} has {}", scope.step.name, wanted,
                            what, scope.run.platform.name, fact->value),
                "`bench platforms show " + scope.run.platform.name + "` tells what is known of it",
                scope.step.batch->place);
}

/// Slurm does not share a core between job steps, so that each takes whole ones.
void separate(const Scope& scope, Geometry& geometry) {
  if (const std::string why = shared_in_pack(scope, geometry.resources); !why.empty())
    throw Error(
        fmt::format("the workpackages of a pack of step '{}' would share cores and GPUs: {}",
                    scope.step.name, why),
        "leave `pack` out", scope.step.batch->place);
  const platform::MaybeFact& of_core = scope.run.platform.machine.threads_per_core;
  if (!of_core || of_core->unconfirmed || of_core->value <= 1)
    return;
  platform::Resources& resources = geometry.resources;
  const int threads_per_core = static_cast<int>(of_core->value);
  const int threads = std::max(1, resources.threads_per_task);
  resources.threads_per_task =
      (threads + threads_per_core - 1) / threads_per_core * threads_per_core;
}

}  // namespace

bool starts_programs(const Scope& scope) {
  return uses_starter(scope.step) && !scope.run.platform.launcher.command.empty();
}

Geometry geometry_of(const Scope& scope) {
  const model::Batch& batch = *scope.step.batch;
  Geometry geometry;
  geometry.resources = {
      .nodes = number(scope, batch.nodes, "nodes", 1, 1),
      .tasks_per_node = number(scope, batch.tasks_per_node, "tasks_per_node", 1, 1),
      .threads_per_task = number(scope, batch.threads_per_task, "threads_per_task", 0, 0),
      .gpus_per_node = number(scope, batch.gpus_per_node, "gpus_per_node", 0, 0),
      .kill_on_bad_exit = batch.kill_on_bad_exit};
  platform::Resources& resources = geometry.resources;
  if (batch.threads_per_task.empty() && resources.gpus_per_node > 0)
    resources.threads_per_task = platform::cores_of_gpus(
        scope.run.platform, resources.gpus_per_node, resources.tasks_per_node);
  geometry.pack = number(scope, batch.pack, "pack", 1, 1);
  if (geometry.pack > 1 && scope.run.platform.scheduler != platform::Scheduler::none)
    separate(scope, geometry);
  const platform::Machine& machine = scope.run.platform.machine;
  check_fact(machine.nodes, resources.nodes, "nodes", scope);
  check_fact(machine.devices_per_node, resources.gpus_per_node * geometry.pack, "GPUs on a node",
             scope);
  const std::string limit = scope.substitute(batch.time_limit);
  if (!limit.empty())
    geometry.time_limit_s = parse_duration_s(limit, batch.place);
  // Where the commands are one job, the step's `timeout` is a limit on it like the other.
  if (const std::string timeout = scope.substitute(scope.step.timeout); !timeout.empty()) {
    const double timeout_s = parse_duration_s(timeout, scope.step.place);
    if (geometry.time_limit_s == 0 || timeout_s < geometry.time_limit_s)
      geometry.time_limit_s = timeout_s;
  }
  if (scope.step.retry)
    geometry.time_limit_s *=
        std::pow(scope.step.retry->time_limit_factor, scope.workpackage.timeouts);
  return geometry;
}

}  // namespace bench::engine
