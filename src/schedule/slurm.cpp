#include <algorithm>
#include <array>
#include <limits>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/schedule/sentinel.hpp>
#include <bench/schedule/slurm.hpp>

namespace bench::schedule {
namespace {

/// squeue and sbatch give up on a controller that is down after 9 s; this is for one that hangs.
constexpr double patience_s = 60;

/// What Slurm says of one job.
struct Told {
  std::string id;
  std::string state;
  std::string reason;
  std::string comment;
};

/// Without what this shell, or a job that bench runs in, would force on the new job.
Environment clean_environment(Environment environment) {
  std::erase_if(environment, [](const auto& variable) {
    const std::string& name = variable.first;
    return name.starts_with("SBATCH_") || name.starts_with("SQUEUE_") ||
           (name.starts_with("SLURM_") && name != "SLURM_CONF");
  });
  return environment;
}

std::string ask(std::vector<std::string> arguments, Environment environment) {
  const std::string program = arguments.front();
  const CommandOutput output = run_command(
      {.arguments = std::move(arguments), .environment = clean_environment(std::move(environment))},
      patience_s);
  if (!output.status.success())
    throw Error(fmt::format("{} failed ({}): {}", program, output.status.description(),
                            strip(output.standard_error)),
                program == "sbatch" ? "the job script stays in the workpackage's directory"
                                    : "nothing is lost: `bench continue` asks again");
  return output.standard_output;
}

/// All jobs of this user that the controller still knows, finished ones too.
std::vector<Told> ask_queue() {
  std::vector<Told> jobs;
  // The comment comes last, since it may hold the separator.
  const std::string answer =
      ask({"squeue", "--me", "-h", "-r", "-t", "all", "-o", "%A|%T|%r|%k"}, current_environment());
  for (const std::string& line : split(answer, "\n")) {
    const auto fields = split(line, "|");
    if (fields.size() >= 4)
      jobs.push_back({fields[0], fields[1], fields[2], join(std::span(fields).subspan(3), "|")});
  }
  return jobs;
}

/// States of squeue(1) that a job does not leave again.
bool is_final(const std::string& state) {
  constexpr std::array final_states{"COMPLETED",     "FAILED",   "TIMEOUT",   "CANCELLED",
                                    "OUT_OF_MEMORY", "DEADLINE", "NODE_FAIL", "BOOT_FAIL",
                                    "PREEMPTED",     "REVOKED"};
  return std::find(final_states.begin(), final_states.end(), state) != final_states.end();
}

/// How a job ended that left no sentinel; nothing while it may still leave one.
std::optional<std::string> end_without_sentinel(const Told* told, const std::string& id) {
  if (!told)
    return fmt::format("Slurm no longer knows job {}, and it left no sentinel", id);
  if (!is_final(told->state))
    return std::nullopt;
  return fmt::format(
      "Slurm job {}: {}{}", id, told->state,
      told->reason.empty() || told->reason == "None" ? "" : " (" + told->reason + ")");
}

}  // namespace

std::size_t SlurmBackend::room(bool batch) const {
  return batch ? std::numeric_limits<std::size_t>::max() : 0;
}

std::string SlurmBackend::start(Job job) {
  const std::string answer = ask({"sbatch", "--parsable", job.script.string()}, job.environment);
  // `id` or `id;cluster`.
  std::string id = split(strip(answer), ";").front();
  jobs_.push_back({std::move(job), id});
  return id;
}

void SlurmBackend::adopt(Job job, const std::string& job_id) {
  jobs_.push_back({std::move(job), job_id});
}

std::vector<Completion> SlurmBackend::wait(double) {
  std::vector<Completion> completions;
  if (jobs_.empty())
    return completions;
  const std::vector<Told> queue = ask_queue();
  std::erase_if(jobs_, [&](const Submitted& submitted) {
    // Asked after the queue: a job that was still running then may have left it since.
    if (auto told = completion_from_sentinel(submitted.job)) {
      completions.push_back(std::move(*told));
      return true;
    }
    const auto told = std::find_if(queue.begin(), queue.end(), [&](const Told& job) {
      return job.id == submitted.id && job.comment == submitted.job.uuid;
    });
    const auto reason = end_without_sentinel(told == queue.end() ? nullptr : &*told, submitted.id);
    if (!reason)
      return false;
    Completion completion;
    completion.workpackage = submitted.job.workpackage;
    completion.reason = *reason;
    completions.push_back(std::move(completion));
    return true;
  });
  return completions;
}

std::map<std::string, std::string> SlurmBackend::ids_by_uuid() {
  std::map<std::string, std::string> ids;
  for (const Told& job : ask_queue())
    ids[job.comment] = job.id;
  return ids;
}

}  // namespace bench::schedule
