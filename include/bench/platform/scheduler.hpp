#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::platform {

/// Who starts the job scripts of a platform.
enum class Scheduler {
  none,     ///< bench itself, here.
  slurm,    ///< Slurm, spoken to in its own terms.
  commands  ///< Another batch system, by the platform's table of commands.
};

/// What a scheduler can do, as far as scripts and their submission depend on it. The one place that
/// knows how schedulers differ; everybody else asks for what he needs.
struct Capabilities {
  bool queues_jobs = false;  ///< Jobs wait in a queue of its own; without one they run here.
  bool keeps_comments =
      false;                   ///< bench recognises a job by the UUID in its comment, not its name.
  bool has_job_steps = false;  ///< Programs side by side in a job have cores and GPUs of their own.
  bool limits_running = false;    ///< Lets only so many of the submitted jobs run at once.
  bool tells_limits = false;      ///< Tells what its partitions and accounts allow.
  bool expands_patterns = false;  ///< `%j` and the like in the names of a script's output files.
};

const Capabilities& capabilities_of(Scheduler scheduler);

/// The names that a platform file may have in `scheduler`.
const std::vector<std::string>& scheduler_names();
/// Nothing for an unknown name.
std::optional<Scheduler> scheduler_of(std::string_view name);

}  // namespace bench::platform
