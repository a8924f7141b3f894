#include <algorithm>

#include <bench/platform/scheduler.hpp>

namespace bench::platform {

const Capabilities& capabilities_of(Scheduler scheduler) {
  static constexpr Capabilities here{};
  static constexpr Capabilities slurm{.queues_jobs = true,
                                      .keeps_comments = true,
                                      .has_job_steps = true,
                                      .limits_running = true,
                                      .tells_limits = true,
                                      .expands_patterns = true};
  static constexpr Capabilities others{.queues_jobs = true};
  switch (scheduler) {
    case Scheduler::none:
      return here;
    case Scheduler::slurm:
      return slurm;
    case Scheduler::commands:
      return others;
  }
  return others;
}

const std::vector<std::string>& scheduler_names() {
  static const std::vector<std::string> names{"none", "slurm", "pbs",    "lsf",
                                              "pjm",  "uge",   "cobalt", "other"};
  return names;
}

std::optional<Scheduler> scheduler_of(std::string_view name) {
  if (std::ranges::find(scheduler_names(), name) == scheduler_names().end())
    return std::nullopt;
  return name == "none"    ? Scheduler::none
         : name == "slurm" ? Scheduler::slurm
                           : Scheduler::commands;
}

}  // namespace bench::platform
