#include "ask_program.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/process.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {
namespace {

struct Meaning {
  std::string_view word;
  JobReport::State state;
  Outcome outcome;
};

/// A meaning that a platform file can give to a state.
std::optional<Meaning> meaning_of(std::string_view word) {
  using State = JobReport::State;
  if (word == "pending")
    return Meaning{word, State::pending, Outcome::done};
  if (word == "running")
    return Meaning{word, State::running, Outcome::done};
  if (word == "blocked")
    return Meaning{word, State::blocked, Outcome::done};
  if (const auto outcome = outcome_of(word))
    return Meaning{word, State::ended, *outcome};
  return std::nullopt;
}

/// For messages.
std::string program_of(const std::string& command) {
  return split(command, " ").front();
}

/// A pipeline fails with any of its programs: a list of jobs that could not be asked for is not an
/// empty one.
ProgramAnswer run_by_shell(const std::string& command, const Environment& environment,
                           const std::filesystem::path& directory = {}) {
  return ask_program({"/bin/bash", "-e", "-o", "pipefail", "-c", command}, environment, directory,
                     program_of(command));
}

/// True if a failed submission may or may not have reached the batch system. Exit codes of batch
/// systems go up to 255 (LSF); PBS reports refusals by codes from 153 on.
bool is_out_of_reach(const ProgramAnswer& answer) {
  // The shell's codes: it could not start the program, or a signal has ended it.
  if (!answer.exit_code || (*answer.exit_code >= 126 && *answer.exit_code <= 128 + SIGTERM))
    return true;
  constexpr std::array<std::string_view, 5> phrases{
      "cannot connect", "connection refused", "timed out", "temporarily unavailable", "is down"};
  return contains_any(to_lower(answer.error), phrases);
}

/// Any batch system that has commands to submit, to list and to cancel. Its jobs are known by their
/// names, which hold a part of the submission's UUID. An array is `12[]`, its tasks are `12[1]`.
class CommandSystem : public BatchSystem {
 public:
  /// @throws Error for a pattern that is not a regular expression or lacks a group
  explicit CommandSystem(SystemOptions options)
      : options_(std::move(options)),
        id_(options_.commands.id_pattern),
        line_(options_.commands.line_pattern) {
    if (id_.groups() == 0)
      throw Error(
          Id::invalid_expression,
          fmt::format("the id pattern of {} has no group (...) for the job's id", options_.name));
    for (const char* group : {"id", "state"})
      if (!line_.has_group(group))
        throw Error(
            Id::invalid_expression,
            fmt::format("the line pattern of {} has no group (?<{}>...)", options_.name, group));
    for (const auto& [word, meaning] : options_.commands.states)
      if (!meaning_of(meaning))
        throw Error(Id::invalid_value,
                    fmt::format("state {} of {} cannot mean '{}'", word, options_.name, meaning),
                    "known: pending, running, blocked, done, " + join(retryable_outcomes(), ", "));
  }

  std::string name() const override { return options_.name; }

  SubmitResult submit(const Submission& submission) override {
    const std::string command = replace_all(replace_all(options_.commands.submit, "{{script}}",
                                                        shell_quote(submission.script.string())),
                                            "{{name}}", shell_quote(submission.name));
    const ProgramAnswer answer =
        run_by_shell(command, submission.environment, submission.directory);
    SubmitResult verdict;
    if (const auto found = id_.search(answer.output); answer.ok() && found) {
      verdict.id = (*found)[1];
      if (submission.is_array && !verdict.id.ends_with("[]"))
        verdict.id += "[]";
      return verdict;
    }
    verdict.kind = answer.ok() || is_out_of_reach(answer) ? SubmitResult::Kind::unavailable
                                                          : SubmitResult::Kind::refused;
    verdict.reason =
        fmt::format("{}: {}", program_of(options_.commands.submit),
                    answer.ok() ? "printed no job id: " + one_line(answer.output) : answer.error);
    return verdict;
  }

  QueryResult ask_for_all() override {
    QueryResult queue;
    const ProgramAnswer answer = run_by_shell(options_.commands.poll, current_environment());
    if (!answer.ok()) {
      queue.failure = fmt::format("{}: {}", program_of(options_.commands.poll), answer.error);
      return queue;
    }
    for (const std::string& line : split(answer.output, "\n")) {
      const auto found = line_.search(line);
      if (!found)
        continue;
      JobReport report;
      report.id = (*found)["id"];
      report.name = (*found)["name"];
      report.word = (*found)["state"];
      // LSF gives jobs outside of arrays the index 0.
      if (const auto task =
              line_.has_group("index") ? parse_integer((*found)["index"]) : std::nullopt;
          task && *task > 0) {
        report.task = static_cast<int>(*task);
        report.id = task_of(report.id + "[]", *report.task);
      }
      // A state that the platform file does not know has not ended.
      if (const auto state = options_.commands.states.find(report.word);
          state != options_.commands.states.end()) {
        const auto meaning = meaning_of(state->second);
        report.state = meaning->state;
        report.outcome = meaning->outcome;
      }
      queue.jobs.push_back(std::move(report));
    }
    return queue;
  }

  QueryResult ask(const std::vector<std::string>& ids) override {
    QueryResult queue = ask_for_all();
    const std::set<std::string> wanted(ids.begin(), ids.end());
    std::erase_if(queue.jobs, [&](const JobReport& job) {
      return !wanted.contains(job.id) && !wanted.contains(array_of(job.id));
    });
    return queue;
  }

  /// Not every system has words for a job that has ended already. So a job that was not cancelled
  /// is looked for in the list.
  std::string cancel(const std::vector<std::string>& ids) override {
    std::vector<std::string> left;
    std::string said;
    for (const std::string& id : ids) {
      const ProgramAnswer answer = run_by_shell(
          replace_all(options_.commands.cancel, "{{id}}", shell_quote(id)), current_environment());
      if (answer.ok())
        continue;
      if (left.empty())
        said = fmt::format("{}: {}", program_of(options_.commands.cancel), answer.error);
      left.push_back(id);
    }
    if (left.empty())
      return "";
    const QueryResult queue = ask(left);
    const bool all_ended =
        queue.failure.empty() && std::ranges::all_of(queue.jobs, [](const auto& job) {
          return job.state == JobReport::State::ended;
        });
    return all_ended ? "" : said;
  }

  /// There is no accounting.
  QueryResult query_accounting(const std::vector<std::string>&) override { return {}; }

  /// No more than 1 where the lines of `poll` do not tell tasks apart.
  int max_array_size() override { return line_.has_group("index") ? options_.most_of_array : 1; }

 private:
  SystemOptions options_;
  Regex id_;
  Regex line_;
};

using Options = std::span<const std::string_view>;

// What the shipped templates set.
constexpr std::array<std::string_view, 6> pbs_options{"-N", "-o", "-e", "-j", "-J", "-r"};
constexpr std::array<std::string_view, 10> lsf_options{"-J", "-Jd", "-o",      "-oo", "-e",
                                                       "-w", "-W",  "-nnodes", "-rn", "-ti"};
constexpr std::array<std::string_view, 5> pjm_options{"-N", "-o", "-e", "-j", "--norestart"};
constexpr std::array<std::string_view, 6> uge_options{"-N", "-o", "-e", "-j", "-r", "-t"};
constexpr std::array<std::string_view, 8> cobalt_options{"--jobname", "-n", "--nodecount", "-t",
                                                         "--time",    "-o", "-e",          "-O"};

constexpr SystemKind by_commands(std::string_view name, const char* job_variable,
                                 const char* job_prefix, std::string_view directive,
                                 Options own_options, const ArrayKind& arrays = {}) {
  return {.name = name,
          .capabilities = {.queues_jobs = true, .limits_running = arrays.range != nullptr},
          .make = [](const SystemOptions& options) -> std::unique_ptr<BatchSystem> {
            return std::make_unique<CommandSystem>(options);
          },
          .arrays = arrays,
          .needs_commands = true,
          .job_variable = job_variable,
          .job_prefix = job_prefix,
          .directive = directive,
          .own_options = own_options};
}

/// `[1-9]%2`, behind the name of the array. Source: bsub(1) of LSF 10.1, -J.
std::string lsf_range(int first, int last, int limit) {
  const std::string range = fmt::format("[{}-{}]", first, last);
  return limit > 0 ? fmt::format("{}%{}", range, limit) : range;
}

/// Source: bsub(1) of LSF 10.1, -w. An array is named without its brackets, a task with them.
std::string after_conditions(const Dependency& dependency) {
  std::vector<std::string> conditions;
  for (const std::string& id : dependency.succeeded)
    conditions.push_back(fmt::format("done({})", id));
  for (const std::string& id : dependency.ended)
    conditions.push_back(fmt::format("ended({})", id.substr(0, id.find('['))));
  return join(conditions, " && ");
}

// In PBS a dependency names whole arrays only (PBS Professional 2022.1 User's Guide, 6.2).
// The sizes are the defaults of the servers: max_array_size of PBS, MAX_JOB_ARRAY_SIZE of LSF.
constexpr ArrayKind pbs_arrays{.first = 1,
                               .line = "${PBS_ARRAY_INDEX:-1}",
                               .most = 10000,
                               .range = plain_range,
                               .after = after_jobs,
                               .tasks_are_awaitable = false};
// Outside of an array LSF sets the index to 0.
constexpr ArrayKind lsf_arrays{.first = 1,
                               .line = "$((${LSB_JOBINDEX:-0} > 0 ? LSB_JOBINDEX : 1))",
                               .most = 1000,
                               .range = lsf_range,
                               .after = after_conditions};

}  // namespace

const SystemKind pbs_kind =
    by_commands("pbs", "PBS_JOBID", "PBS_", "#PBS", pbs_options, pbs_arrays);
const SystemKind lsf_kind =
    by_commands("lsf", "LSB_JOBID", "LSB_", "#BSUB", lsf_options, lsf_arrays);
const SystemKind pjm_kind = by_commands("pjm", "PJM_JOBID", "PJM_", "#PJM", pjm_options);
const SystemKind uge_kind = by_commands("uge", "JOB_ID", nullptr, "#$", uge_options);
const SystemKind cobalt_kind =
    by_commands("cobalt", "COBALT_JOBID", "COBALT_", "#COBALT", cobalt_options);
const SystemKind other_kind = by_commands("other", nullptr, nullptr, "", {});

}  // namespace bench::machine
