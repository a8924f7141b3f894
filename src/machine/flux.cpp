#include "ask_program.hpp"

#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/outcome.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {
namespace {

constexpr std::array<std::string_view, 10> flux_options{
    "--job-name", "--output", "--error",      "--nodes", "-N",
    "--nslots",   "-n",       "--time-limit", "-t",      "--wrap"};

/// Fields of flux-jobs(1). None of the first four holds the character between them.
constexpr const char* listed = "{id.f58}|{state}|{result}|{exception.type}|{name}";

/// A job's id in ASCII: `f2oLkTLb` for `ƒ2oLkTLb`; Flux accepts both.
std::string plain_id(std::string_view id) {
  constexpr std::string_view sign = "\u0192";
  return id.starts_with(sign) ? "f" + std::string(id.substr(sign.size())) : std::string(id);
}

/// Of a job that has ended: by its result.
Outcome outcome_of_result(std::string_view result) {
  if (result == "COMPLETED")
    return Outcome::done;
  if (result == "CANCELED")
    return Outcome::cancelled;
  return result == "TIMEOUT" ? Outcome::timeout : Outcome::failed;
}

JobReport read_job(const std::vector<std::string>& fields) {
  const std::string& state = fields[1];
  JobReport job;
  job.id = plain_id(fields[0]);
  job.name = fields[4];
  job.word = state;
  if (state == "RUN" || state == "CLEANUP") {
    job.state = JobReport::State::running;
  } else if (state == "INACTIVE") {
    job.state = JobReport::State::ended;
    job.word = fields[2];
    job.outcome = outcome_of_result(job.word);
    job.reason = fields[3];
  }
  return job;
}

/// True if a program of Flux could not reach its instance.
bool is_unavailable(const ProgramAnswer& answer) {
  constexpr std::array<std::string_view, 4> phrases{"unable to connect", "connection refused",
                                                    "connection reset", "timed out"};
  return !answer.exit_code || contains_any(to_lower(answer.error), phrases);
}

/// Flux, used through its own programs. Its jobs are recognised by their names: it keeps no
/// comments.
class Flux : public BatchSystem {
 public:
  std::string name() const override { return "Flux"; }

  SubmitResult submit(const Submission& submission) override {
    const ProgramAnswer answer = ask_program({"flux", "batch", submission.script.string()},
                                             submission.environment, submission.directory);
    SubmitResult result{.id = plain_id(strip(answer.output))};
    if (answer.ok() && !result.id.empty())
      return result;
    result.kind = answer.ok() || is_unavailable(answer) ? SubmitResult::Kind::unavailable
                                                        : SubmitResult::Kind::refused;
    result.reason = answer.ok() ? "flux batch printed no job id" : "flux batch: " + answer.error;
    return result;
  }

  QueryResult ask_for_all() override {
    const ProgramAnswer answer = ask_program(
        {"flux", "jobs", "-a", "-n", "--count=100000", "-o", listed}, current_environment());
    if (!answer.ok())
      return {.jobs = {}, .failure = "flux jobs: " + answer.error};
    QueryResult queue;
    for (const std::string& line : split_names(answer.output, "\n"))
      if (const auto fields = split(line, "|"); fields.size() == 5)
        queue.jobs.push_back(read_job(fields));
    return queue;
  }

  /// `flux jobs ID...` would fail for an id that Flux has forgotten.
  QueryResult ask(const std::vector<std::string>& ids) override {
    QueryResult queue = ask_for_all();
    const std::set<std::string> wanted(ids.begin(), ids.end());
    std::erase_if(queue.jobs, [&](const JobReport& job) { return !wanted.contains(job.id); });
    return queue;
  }

  /// Flux has no accounting of jobs that it has forgotten.
  QueryResult query_accounting(const std::vector<std::string>&) override { return {}; }

  std::string cancel(const std::vector<std::string>& ids) override {
    constexpr std::array<std::string_view, 3> of_ended{"inactive", "unknown job", "not found"};
    std::string said;
    for (const std::string& id : ids) {
      const ProgramAnswer answer = ask_program({"flux", "cancel", id}, current_environment());
      if (said.empty() && !answer.ok() && !contains_any(answer.error, of_ended))
        said = "flux cancel: " + answer.error;
    }
    return said;
  }

  int max_array_size() override { return 1; }
};

}  // namespace

const SystemKind flux_kind{.name = "flux",
                           .capabilities = {.queues_jobs = true},
                           .make = [](const SystemOptions&) -> std::unique_ptr<BatchSystem> {
                             return std::make_unique<Flux>();
                           },
                           .job_variable = "FLUX_JOB_ID",
                           .job_prefix = "FLUX_JOB_",
                           .job_nodes = "$(flux getattr hostlist 2> /dev/null)",
                           .directive = "#flux:",
                           .own_options = flux_options};

}  // namespace bench::machine
