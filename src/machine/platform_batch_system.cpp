#include <cstddef>
#include <memory>

#include <bench/machine/batch_system.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/machine/platform.hpp>
#include <bench/machine/platform_batch_system.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {

std::unique_ptr<BatchSystem> batch_system_of(const Platform& platform) {
  const Commands& commands = platform.commands;
  return platform.system().make({.directives = platform.directives,
                                 .commands = {.system = platform.scheduler,
                                              .submit = commands.submit,
                                              .id_pattern = commands.id_pattern,
                                              .poll = commands.poll,
                                              .line_pattern = commands.line_pattern,
                                              .cancel = commands.cancel,
                                              .states = commands.states,
                                              .most_of_array = platform.system().arrays.most}});
}

std::unique_ptr<BatchSystem> batch_system_of_commands(const Platform& platform) {
  return platform.capabilities().queues_jobs ? batch_system_of(platform)
                                             : find_system("slurm")->make({});
}

BatchSettings batch_settings_of(const Platform& platform) {
  return {.interval_s = platform.polling.interval_s,
          .ids_at_once = static_cast<std::size_t>(platform.polling.jobs_per_question),
          .grace_s = platform.polling.sentinel_grace_s,
          .max_array_size = platform.polling.max_array_size};
}

}  // namespace bench::machine
