#include "ask_program.hpp"
#include "slurm.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/outcome.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/sentinel.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {

// ASCII's record separator and unit separator. The last field is empty in a record that is whole.
const char* const squeue_format = "\x1e%A\x1f%F\x1f%K\x1f%T\x1f%r\x1f%B\x1f%j\x1f%k\x1f";
const char* const sacct_fields = "JobID,State,JobName,NodeList,Comment";
const char* const sacct_delimiter = "--delimiter=\x1f";

namespace {

constexpr std::string_view record_mark = "\x1e";
constexpr std::string_view field_mark = "\x1f";
constexpr std::size_t queue_fields = 9;
constexpr std::size_t accounting_fields = 5;
/// What squeue prints above the jobs. Output without it is not an answer: a node that can no longer
/// start processes gives an empty one.
constexpr std::string_view heading = "JOBID\x1f";

std::string text_or_empty(const std::string& field) {
  constexpr std::array<std::string_view, 5> nothing{"n/a", "N/A", "None", "None assigned",
                                                    "(null)"};
  return std::ranges::find(nothing, field) == nothing.end() ? field : "";
}

std::optional<JobReport> read_job(const std::string& record, std::string_view cluster) {
  const auto fields = split(record, field_mark);
  if (fields.size() != queue_fields || !parse_integer(fields[0]))
    return std::nullopt;
  const SlurmState meaning = slurm_state(fields[3], fields[4]);
  JobReport report;
  report.id = with_cluster(fields[0], cluster);
  if (const auto task = parse_integer(fields[2])) {
    report.task = static_cast<int>(*task);
    report.id = task_of(with_cluster(fields[1], cluster), *report.task);
  }
  report.state = meaning.state;
  report.outcome = meaning.outcome;
  report.word = fields[3];
  report.reason = text_or_empty(fields[4]);
  report.host = text_or_empty(fields[5]);
  report.name = fields[6];
  report.comment = text_or_empty(fields[7]);
  return report;
}

std::optional<JobReport> read_record(const std::string& line, std::string_view cluster) {
  const auto fields = split(line, field_mark);
  if (fields.size() != accounting_fields)
    return std::nullopt;
  const SlurmState meaning = slurm_state(fields[1], "");
  if (meaning.state != JobReport::State::ended)
    return std::nullopt;
  JobReport report;
  report.id = with_cluster(fields[0], cluster);
  if (const auto underscore = fields[0].find('_'); underscore != std::string::npos)
    if (const auto task = parse_integer(fields[0].substr(underscore + 1)))
      report.task = static_cast<int>(*task);
  report.state = JobReport::State::ended;
  report.outcome = meaning.outcome;
  report.word = fields[1];
  report.name = fields[2];
  report.host = fields[3].find('[') == std::string::npos ? text_or_empty(fields[3]) : "";
  report.comment = text_or_empty(fields[4]);
  return report;
}

/// The tasks in the id of an array's part that never began, as in `123_[0-4,7%2]`; empty for other
/// ids, and where Slurm has cut the list off.
std::vector<int> tasks_in(std::string_view id) {
  const auto open = id.find("_[");
  if (open == std::string_view::npos || !id.ends_with(']'))
    return {};
  const std::string_view list = id.substr(open + 2, id.size() - open - 3);
  return numbers_in(list.substr(0, list.find('%')));
}

}  // namespace

std::vector<int> numbers_in(std::string_view ranges) {
  std::vector<int> numbers;
  for (const std::string& range : split_names(ranges, ",")) {
    const auto dash = range.find('-');
    const auto first = parse_integer(range.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_integer(range.substr(dash + 1));
    if (!first || !last || *last < *first)
      return {};
    for (auto number = *first; number <= *last; ++number)
      numbers.push_back(static_cast<int>(number));
  }
  return numbers;
}

std::string said(const std::string& program, const ProgramAnswer& answer) {
  const std::string name = program + ": ";
  const std::string text = replace_all(answer.error, "; " + name, "; ");
  return text.starts_with(name) ? text : name + text;
}

std::string job_id_in(std::string_view answer) {
  std::string id;
  for (const std::string& line : split(answer, "\n")) {
    const std::string_view word = strip(line);
    if (parse_integer(word.substr(0, word.find(';'))))
      id = word;
  }
  return id;
}

QueryResult read_queue(const ProgramAnswer& answer, std::string_view cluster) {
  QueryResult queue;
  if (!answer.ok()) {
    queue.failure = said("squeue", answer);
    return queue;
  }
  // Where squeue was given a cluster, it prints its name before the first mark.
  auto records = split(answer.output, record_mark);
  records.erase(records.begin());
  if (records.empty() || !records.front().starts_with(heading)) {
    queue.failure = "the answer of squeue is not a list of jobs";
    return queue;
  }
  if (!answer.output.ends_with('\n')) {
    queue.failure = fmt::format("the answer of squeue was cut off: {}",
                                one_line(to_valid_utf8(records.back().substr(0, 120))));
    return queue;
  }
  for (std::size_t k = 1; k < records.size(); ++k)
    if (auto report = read_job(records[k], cluster))
      queue.jobs.push_back(std::move(*report));
  return queue;
}

std::vector<JobReport> read_records(const std::string& output, std::string_view cluster) {
  std::vector<JobReport> jobs;
  for (const std::string& line : split(output, "\n"))
    if (auto report = read_record(line, cluster)) {
      const std::string part = without_cluster(report->id);
      const std::vector<int> tasks = tasks_in(part);
      for (const int task : tasks) {
        report->task = task;
        report->id = with_cluster(task_of(part.substr(0, part.find('_')), task), cluster);
        jobs.push_back(*report);
      }
      if (tasks.empty())
        jobs.push_back(std::move(*report));
    }
  return jobs;
}

namespace {

using State = JobReport::State;

struct Known {
  std::string_view word;
  SlurmState meaning;
};

// Source: squeue(1) of Slurm 22.05, JOB STATE CODES. A job that is requeued waits again.
constexpr std::array<Known, 25> states{{
    {"PENDING", {State::pending, Outcome::done}},
    {"REQUEUED", {State::pending, Outcome::done}},
    {"REQUEUE_FED", {State::pending, Outcome::done}},
    {"CONFIGURING", {State::running, Outcome::done}},
    {"RUNNING", {State::running, Outcome::done}},
    {"COMPLETING", {State::running, Outcome::done}},
    {"SUSPENDED", {State::running, Outcome::done}},
    {"STOPPED", {State::running, Outcome::done}},
    {"RESIZING", {State::running, Outcome::done}},
    {"SIGNALING", {State::running, Outcome::done}},
    {"STAGE_OUT", {State::running, Outcome::done}},
    {"REQUEUE_HOLD", {State::blocked, Outcome::done}},
    {"RESV_DEL_HOLD", {State::blocked, Outcome::done}},
    {"SPECIAL_EXIT", {State::blocked, Outcome::done}},
    {"COMPLETED", {State::ended, Outcome::done}},
    {"FAILED", {State::ended, Outcome::failed}},
    {"TIMEOUT", {State::ended, Outcome::timeout}},
    {"OUT_OF_MEMORY", {State::ended, Outcome::out_of_memory}},
    {"DEADLINE", {State::ended, Outcome::deadline}},
    {"CANCELLED", {State::ended, Outcome::cancelled}},
    {"NODE_FAIL", {State::ended, Outcome::node_fail}},
    {"BOOT_FAIL", {State::ended, Outcome::boot_fail}},
    {"PREEMPTED", {State::ended, Outcome::preempted}},
    {"REVOKED", {State::ended, Outcome::cancelled}},
    {"LAUNCH_FAILED", {State::ended, Outcome::launch_failure}},
}};

/// Reasons of squeue(1), JOB REASON CODES, that need a person; a maintenance, for example, ends by
/// itself.
constexpr std::array<std::string_view, 13> hopeless{"JobHeldUser",
                                                    "JobHeldAdmin",
                                                    "launch failed requeued held",
                                                    "DependencyNeverSatisfied",
                                                    "PartitionNodeLimit",
                                                    "PartitionTimeLimit",
                                                    "PartitionInactive",
                                                    "BadConstraints",
                                                    "InvalidAccount",
                                                    "InvalidQOS",
                                                    "AccountNotAllowed",
                                                    "QOSNotAllowed",
                                                    "ReservationDeleted"};

/// True for `ReqNodeNotAvail, UnavailableNodes:n[1-2]`; before a maintenance it names no nodes.
bool lacks_nodes(std::string_view reason) {
  constexpr std::string_view unavailable = "UnavailableNodes:";
  const auto at = reason.find(unavailable);
  return at != std::string_view::npos && reason.size() > at + unavailable.size();
}

bool is_hopeless(std::string_view reason) {
  return std::ranges::any_of(hopeless, [&](std::string_view word) {
    return reason.starts_with(word) || reason.starts_with("(" + std::string(word));
  });
}

}  // namespace

SlurmState slurm_state(std::string_view word, std::string_view reason) {
  word = word.substr(0, word.find_first_of(" +"));
  const auto found = std::ranges::find(states, word, &Known::word);
  if (found == states.end())
    return {State::pending, Outcome::done};
  SlurmState meaning = found->meaning;
  if (meaning.state == State::pending && is_hopeless(reason))
    meaning.state = State::blocked;
  if (meaning.state == State::pending && lacks_nodes(reason))
    meaning.state = State::without_nodes;
  // Slurm cancelled it, since a job that it was to wait for has failed: it was never tried.
  if (meaning.outcome == Outcome::cancelled && reason == "DependencyNeverSatisfied")
    meaning.outcome = Outcome::interrupted;
  if (meaning.outcome == Outcome::failed && reason == "JobLaunchFailure")
    meaning.outcome = Outcome::launch_failure;
  return meaning;
}

namespace {

std::map<std::string, std::string> words_of(const std::string& line) {
  std::map<std::string, std::string> words;
  for (const std::string& word : split_names(line, " "))
    if (const auto equals = word.find('='); equals != std::string::npos)
      words.emplace(word.substr(0, equals), word.substr(equals + 1));
  return words;
}

std::vector<std::string> allowed(const std::string& list) {
  return list == "ALL" || list.empty() || list == "N/A" ? std::vector<std::string>{}
                                                        : split_names(list);
}

int count_of(const std::string& text) {
  return static_cast<int>(parse_integer(text).value_or(0));
}

/// The most that a node of a partition has; 0: unknown.
struct Nodes {
  int gpus = 0;
  int threads_per_core = 0;
};

/// Nodes by partition; sinfo prints a line for each kind of node.
std::map<std::string, Nodes> read_nodes(const std::string& sinfo) {
  std::map<std::string, Nodes> all;
  for (const std::string& line : split(sinfo, "\n"))
    if (const auto fields = split(line, "|"); fields.size() >= 2) {
      Nodes& most = all[fields[0]];
      most.gpus = std::max(most.gpus, gpus_in(fields[1]));
      if (fields.size() > 2)
        most.threads_per_core = std::max(most.threads_per_core, count_of(fields[2]));
    }
  return all;
}

}  // namespace

int gpus_in(const std::string& gres) {
  static const Regex gpu(R"((?:^|,)gpu(?::[^:,()]+)?:(\d+))");
  int sum = 0;
  for (const std::string& count : gpu.find_all(gres))
    sum += count_of(count);
  return sum;
}

std::vector<Partition> read_partitions(const std::string& scontrol, const std::string& sinfo) {
  const std::map<std::string, Nodes> nodes = read_nodes(sinfo);
  std::vector<Partition> all;
  for (const std::string& line : split(scontrol, "\n")) {
    auto words = words_of(line);
    if (words["PartitionName"].empty())
      continue;
    Partition& partition = all.emplace_back();
    partition.name = words["PartitionName"];
    partition.is_default = words["Default"] == "YES";
    // A partition that is down accepts jobs, which then wait.
    partition.takes_jobs = words["State"] != "INACTIVE" && words["State"] != "DRAIN";
    if (const std::string& time = words["MaxTime"]; !time.empty() && time != "UNLIMITED")
      partition.max_time_s = parse_duration_s(time);
    partition.nodes = count_of(words["TotalNodes"]);
    partition.max_nodes = partition.nodes;
    if (const int limit = count_of(words["MaxNodes"]); limit > 0)
      partition.max_nodes = std::min(partition.max_nodes, limit);
    partition.accounts = allowed(words["AllowAccounts"]);
    partition.qos = allowed(words["AllowQos"]);
    if (const auto known = nodes.find(partition.name); known != nodes.end()) {
      partition.most_gpus_per_node = known->second.gpus;
      if (known->second.threads_per_core > 0)
        partition.threads_per_core = known->second.threads_per_core;
    }
  }
  return all;
}

namespace {

/// How much of the end of a file is read.
constexpr std::size_t end_bytes = 65536;

/// `8` of `*** JOB 8 ON`, of `*** STEP 8.0 ON`, of `in StepId=8.batch` and of `error: Job 8`.
std::string_view job_in(std::string_view line) {
  for (const std::string_view before :
       {"*** JOB ", "*** STEP ", "StepId=", "error: Job ", "error: Step "})
    if (const auto at = line.find(before); at != std::string_view::npos) {
      const std::string_view rest = line.substr(at + before.size());
      return rest.substr(0, rest.find_first_not_of("0123456789"));
    }
  return "";
}

// Source: what Slurm 22.05 writes, as seen; the more general words come last.
constexpr std::array<std::pair<std::string_view, Outcome>, 9> causes{
    {{"DUE TO TIME LIMIT", Outcome::timeout},
     {"DUE TO PREEMPTION", Outcome::preempted},
     {"DUE TO JOB REQUEUE", Outcome::preempted},
     {"DUE TO NODE FAILURE", Outcome::node_fail},
     {"oom-kill event", Outcome::out_of_memory},
     {"oom_kill event", Outcome::out_of_memory},
     // with OverMemoryKill; the job is cancelled then
     {"exceeded memory limit", Outcome::out_of_memory},
     {"exceeded virtual memory limit", Outcome::out_of_memory},
     {"CANCELLED AT", Outcome::cancelled}}};

}  // namespace

std::optional<Outcome> ended_by_slurmstepd(const std::filesystem::path& file,
                                           std::string_view job) {
  std::optional<Outcome> ended;
  for (const std::string& line : split(tail_of(file, end_bytes), "\n")) {
    if (!line.starts_with("slurmstepd") || job_in(line).empty() ||
        (!job.empty() && job_in(line) != job))
      continue;
    for (const auto& [words, outcome] : causes)
      if (line.find(words) != std::string::npos) {
        // A job is cancelled for a cause, which an earlier line may name.
        if (!ended || outcome != Outcome::cancelled)
          ended = outcome;
        break;
      }
  }
  return ended;
}

std::string node_named_by_srun(const std::filesystem::path& file) {
  // Source: what srun of Slurm 22.05 writes, as seen.
  constexpr std::string_view words = "srun: error: Node failure on ";
  std::string node;
  for (const std::string& line : split(tail_of(file, end_bytes), "\n"))
    if (line.starts_with(words))
      node = strip(line.substr(words.size()));
  const bool is_name = std::ranges::all_of(node, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
  return is_name ? node : "";
}

}  // namespace bench::machine
