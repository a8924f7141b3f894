#include <bench/base/text.hpp>
#include <bench/execute/command_system.hpp>
#include <bench/execute/slurm.hpp>
#include <bench/scheduler/batch_system.hpp>

namespace bench::scheduler {
namespace {

/// Where the platform's directives send its jobs, as in `#SBATCH --clusters=a,b`; empty: nowhere
/// else.
std::vector<std::string> clusters_of(const platform::Platform& platform) {
  for (const std::string& line : split(platform.directives, "\n")) {
    const auto words = split_names(replace_all(line, "=", " "), " ");
    if (words.size() == 3 && words[0] == "#SBATCH" &&
        (words[1] == "-M" || words[1] == "--clusters"))
      return split_names(words[2]);
  }
  return {};
}

}  // namespace

std::unique_ptr<execute::BatchSystem> batch_system_of(const platform::Platform& platform) {
  if (platform.scheduler != platform::Scheduler::commands)
    return std::make_unique<execute::Slurm>(clusters_of(platform));
  const platform::Commands& commands = platform.commands;
  return std::make_unique<execute::CommandSystem>(
      execute::CommandTable{.system = platform.scheduler_name,
                            .submit = commands.submit,
                            .id_pattern = commands.id_pattern,
                            .poll = commands.poll,
                            .line_pattern = commands.line_pattern,
                            .cancel = commands.cancel,
                            .states = commands.states});
}

execute::BatchSettings batch_settings_of(const platform::Platform& platform) {
  return {.interval_s = platform.polling.interval_s,
          .ids_at_once = static_cast<std::size_t>(platform.polling.jobs_per_question),
          .grace_s = platform.polling.sentinel_grace_s,
          .max_array_size = platform.polling.max_array_size};
}

}  // namespace bench::scheduler
