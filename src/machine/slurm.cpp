#include "slurm.hpp"

#include "ask_program.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <bench/base/chunks.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/process.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {
namespace {

/// True if sbatch could not reach a controller; otherwise it refused the job.
bool controller_is_unavailable(const ProgramAnswer& answer) {
  constexpr std::array<std::string_view, 16> phrases{
      "Unable to contact slurm controller", "Socket timed out", "Connection refused",
      "Connection timed out", "Zero Bytes", "Transport endpoint",
      "Resource temporarily unavailable", "Insane message", "Communication connection failure",
      "Communication shutdown failure", "Message send failure", "Message receive failure",
      "Unexpected message received", "controller shutting", "standby mode",
      // of another cluster's controller
      "can't be reached now"};
  return contains_any(answer.error, phrases);
}

/// True for limits on the jobs of a user in the queue, which pass as jobs end, and on the tasks of
/// an array (MaxArraySize, max_array_tasks). A smaller submission may be accepted.
bool is_full(const std::string& error) {
  constexpr std::array<std::string_view, 7> phrases{"SubmitJob",
                                                    "AssocMaxSubmit",
                                                    "temporarily unable to accept",
                                                    "job queue full",
                                                    "MaxJobCount",
                                                    "Job creation temporarily disabled",
                                                    "Invalid job array specification"};
  return contains_any(error, phrases);
}

/// What became of a submission that sbatch did not report as accepted. The queue is full also where
/// sbatch gives its last try the words of an outage: "Resource temporarily unavailable".
SubmitResult::Kind kind_of_failure(const ProgramAnswer& answer) {
  if (!answer.exit_code)
    return SubmitResult::Kind::unavailable;
  if (is_full(answer.error))
    return SubmitResult::Kind::full;
  return controller_is_unavailable(answer) ? SubmitResult::Kind::unavailable
                                           : SubmitResult::Kind::refused;
}

/// Ids by their cluster; empty for the user's own.
std::map<std::string, std::vector<std::string>> by_cluster(const std::vector<std::string>& ids) {
  std::map<std::string, std::vector<std::string>> parts;
  for (const std::string& id : ids)
    parts[cluster_of(id)].push_back(id);
  return parts;
}

/// The jobs and arrays of `123_4`, each once.
std::string job_list(const std::vector<std::string>& ids) {
  std::set<std::string> jobs;
  for (const std::string& id : ids)
    jobs.insert(without_cluster(array_of(id)));
  std::vector<std::string> list(jobs.begin(), jobs.end());
  if (list.size() == 1)
    list.push_back(list.front());  // most versions of squeue fail for one unknown id, not for two
  return join(list, ",");
}

/// Lists the queue: the jobs with these ids, or, where a job that Slurm no longer knows keeps
/// squeue from answering for the others, all jobs of the cluster.
ProgramAnswer ask_squeue(const std::vector<std::string>& ids, const std::string& cluster) {
  const std::vector<std::string> list{"squeue", "-a", "-r", "-t", "all", "-o", squeue_format};
  std::vector<std::string> chosen = list;
  chosen.insert(chosen.end(), {"-j", job_list(ids)});
  ProgramAnswer answer = ask_slurm(std::move(chosen), cluster);
  return answer.exit_code && answer.error.find("Invalid job id") != std::string::npos
             ? ask_slurm(list, cluster)
             : std::move(answer);
}

/// The same jobs in as few words as scancel takes: the tasks of an array are one, as in
/// `123_[0-4,7]`. Slurm's controller is asked once for each word.
std::vector<std::string> words_for_scancel(const std::vector<std::string>& ids) {
  std::map<std::string, std::set<long long>> tasks_of;
  std::vector<std::string> words;
  for (const std::string& id : ids) {
    const std::string job = without_cluster(id);
    const auto underscore = job.find('_');
    const auto task = underscore == std::string::npos
                          ? std::nullopt
                          : parse_integer(std::string_view(job).substr(underscore + 1));
    if (task)
      tasks_of[job.substr(0, underscore)].insert(*task);
    else
      words.push_back(job);
  }
  for (const auto& [array, tasks] : tasks_of) {
    if (tasks.size() == 1) {
      words.push_back(fmt::format("{}_{}", array, *tasks.begin()));
      continue;
    }
    std::vector<std::string> ranges;
    for (auto first = tasks.begin(); first != tasks.end();) {
      auto last = first;
      auto next = std::next(first);
      while (next != tasks.end() && *next == *last + 1)
        last = next++;
      ranges.push_back(*first == *last ? std::to_string(*first)
                                       : fmt::format("{}-{}", *first, *last));
      first = next;
    }
    words.push_back(fmt::format("{}_[{}]", array, join(ranges, ",")));
  }
  return words;
}

int max_array_size_of(const std::string& cluster) {
  constexpr int slurms_default = 1001;  // slurm.conf(5), MaxArraySize
  const ProgramAnswer answer = ask_slurm({"scontrol", "show", "config"}, cluster);
  static const Regex line(R"(MaxArraySize\s*=\s*(\d+))");
  const auto found = line.search(answer.output);
  const int size =
      found ? static_cast<int>(parse_integer((*found)[1]).value_or(1)) : slurms_default;
  return std::max(1, size);
}

void append(QueryResult& all, QueryResult part) {
  if (all.failure.empty())
    all.failure = std::move(part.failure);
  std::ranges::move(part.jobs, std::back_inserter(all.jobs));
}

/// Slurm 20.11 or later. A job is recognised by the UUID in its comment, otherwise by its id
/// together with its name: after a crash of its controller Slurm uses an id a second time.
class Slurm : public BatchSystem {
 public:
  /// @param clusters where jobs go that name no cluster; empty: the user's own
  explicit Slurm(std::vector<std::string> clusters) : clusters_(std::move(clusters)) {
    if (clusters_.empty())
      clusters_.emplace_back();
  }

  std::string name() const override { return "Slurm"; }

  SubmitResult submit(const Submission& submission) override {
    // Where the queue is full, sbatch itself tries 15 times, with pauses of 1 s, 2 s, ... 15 s.
    constexpr double pauses_of_sbatch_s = 120;
    const ProgramAnswer answer =
        ask_program({"sbatch", "--parsable", submission.script.string()}, submission.environment,
                    submission.directory, "sbatch", pauses_of_sbatch_s);
    SubmitResult verdict;
    if (answer.ok()) {
      verdict.id = job_id_in(answer.output);
      if (!verdict.id.empty())
        return verdict;
      verdict.kind = SubmitResult::Kind::unavailable;
      verdict.reason =
          fmt::format("sbatch printed no job id: {}", one_line(to_valid_utf8(answer.output)));
      return verdict;
    }
    verdict.kind = kind_of_failure(answer);
    verdict.reason = said("sbatch", answer);
    return verdict;
  }

  QueryResult ask(const std::vector<std::string>& ids) override {
    QueryResult all;
    for (const auto& [cluster, some] : by_cluster(ids))
      append(all, read_queue(ask_squeue(some, cluster), cluster));
    return all;
  }

  QueryResult ask_for_all() override {
    QueryResult all;
    for (const std::string& cluster : clusters_)
      append(all,
             read_queue(ask_slurm({"squeue", "-a", "--me", "-r", "-t", "all", "-o", squeue_format},
                                  cluster),
                        cluster));
    return all;
  }

  /// Asks sacct for the accounting or, without one, for the records of the job completion plugin.
  QueryResult query_accounting(const std::vector<std::string>& ids) override {
    QueryResult accounting;
    for (const auto& [cluster, some] : by_cluster(ids)) {
      if (!has_accounting_)
        return query_completed(ids);
      const ProgramAnswer answer = ask_slurm(
          {"sacct", "-X", "-P", "-n", sacct_delimiter, "-j", job_list(some), "-o", sacct_fields},
          cluster);
      has_accounting_ = answer.error.find("accounting storage is disabled") == std::string::npos;
      if (!has_accounting_)
        return query_completed(ids);
      QueryResult part{.jobs = read_records(answer.output, cluster), .failure = ""};
      if (!answer.ok())
        part.failure = said("sacct", answer);
      append(accounting, std::move(part));
    }
    return accounting;
  }

  std::string cancel(const std::vector<std::string>& ids) override {
    // The length of an argument list is limited.
    constexpr std::size_t at_once = 1000;
    constexpr std::array<std::string_view, 2> of_ended{"already complet", "Invalid job id"};
    std::string failure;
    for (const auto& [cluster, some] : by_cluster(ids)) {
      const std::vector<std::string> words = words_for_scancel(some);
      for (const auto& chunk : chunks_of(words, at_once)) {
        std::vector<std::string> arguments{"scancel"};
        arguments.insert(arguments.end(), chunk.begin(), chunk.end());
        const ProgramAnswer answer = ask_slurm(std::move(arguments), cluster);
        if (failure.empty() && !answer.ok() && !contains_any(answer.error, of_ended))
          failure = said("scancel", answer);
      }
    }
    return failure;
  }

  /// MaxArraySize of slurm.conf, of several clusters the smallest; asked once.
  int max_array_size() override {
    if (!max_array_size_) {
      std::vector<int> sizes;
      for (const std::string& cluster : clusters_)
        sizes.push_back(max_array_size_of(cluster));
      max_array_size_ = std::ranges::min(sizes);  // the array may go to any of them
    }
    return *max_array_size_;
  }

  Partitions ask_partitions() override {
    return clusters_.size() > 1 ? Partitions{} : ask_slurm_partitions(clusters_.front());
  }

  std::vector<Association> ask_associations() override { return ask_slurm_associations(clusters_); }

  /// srun names it. Otherwise it is known for a job with a single node.
  std::string failed_node(const JobReport& job, const std::filesystem::path& errors) override {
    if (std::string node = node_named_by_srun(errors); !node.empty())
      return node;
    const ProgramAnswer answer =
        ask_slurm({"squeue", "-a", "-h", "-t", "all", "-o", "%N", "-j", without_cluster(job.id)},
                  cluster_of(job.id));
    const std::string nodes = answer.ok() ? split(answer.output, "\n").front() : "";
    const std::string node(strip(nodes.empty() ? job.host : nodes));
    return node.find_first_of("[,(") == std::string::npos ? node : "";
  }

  std::optional<Outcome> end_told_in(const std::filesystem::path& file,
                                     std::string_view job) const override {
    return ended_by_slurmstepd(file, job);
  }

 private:
  /// The records of the job completion plugin, which have neither comments nor tasks of arrays;
  /// where the site does not keep those either, nothing is known.
  QueryResult query_completed(const std::vector<std::string>& ids) {
    const ProgramAnswer answer = ask_slurm(
        {"sacct", "-c", "-P", "-n", sacct_delimiter, "-j", job_list(ids), "-o", sacct_fields}, "");
    return {.jobs = read_records(answer.output, ""), .failure = ""};
  }

  std::vector<std::string> clusters_;
  std::optional<int> max_array_size_;
  bool has_accounting_ = true;
};

}  // namespace

ProgramAnswer ask_slurm(std::vector<std::string> arguments, const std::string& cluster) {
  if (!cluster.empty())
    arguments.insert(arguments.begin() + 1, {"-M", cluster});
  return ask_program(std::move(arguments), current_environment());
}

namespace {

/// The name of the user's own cluster; empty if it is not known.
std::string own_cluster() {
  const ProgramAnswer answer = ask_slurm({"scontrol", "show", "config"}, "");
  static const Regex line(R"(ClusterName\s*=\s*(\S+))");
  const auto found = line.search(answer.output);
  return found ? (*found)[1] : "";
}

}  // namespace

std::vector<Association> ask_slurm_associations(const std::vector<std::string>& clusters) {
  const passwd* user = ::getpwuid(::getuid());
  if (!user)
    return {};
  const ProgramAnswer answer =
      ask_program({"sacctmgr", "-n", "-P", "show", "associations",
                   std::string("user=") + user->pw_name, "format=cluster,account,qos"},
                  current_environment());
  if (!answer.ok())
    return {};
  std::vector<std::pair<std::string, Association>> rows;
  std::set<std::string> known;
  for (const std::string& line : split_names(answer.output, "\n"))
    if (const auto fields = split(line, "|"); fields.size() == 3) {
      rows.emplace_back(fields[0],
                        Association{.account = fields[1], .qos = split_names(fields[2])});
      known.insert(fields[0]);
    }
  std::set<std::string> wanted(clusters.begin(), clusters.end());
  wanted.erase("");
  // A site's accounting may serve many clusters, each with its own accounts.
  if (wanted.empty() && known.size() > 1)
    wanted.insert(own_cluster());
  std::vector<Association> associations;
  for (auto& [cluster, association] : rows)
    if (wanted.empty() || wanted.contains("") || wanted.contains(cluster))
      associations.push_back(std::move(association));
  return associations;
}

Partitions ask_slurm_partitions(const std::string& cluster) {
  Partitions partitions;
  const ProgramAnswer shown = ask_slurm({"scontrol", "-a", "-o", "show", "partition"}, cluster);
  if (!shown.ok()) {
    partitions.failure = said("scontrol", shown);
    return partitions;
  }
  const ProgramAnswer listed = ask_slurm({"sinfo", "-a", "-h", "-o", "%R|%G|%Z"}, cluster);
  partitions.known = true;
  partitions.all = read_partitions(shown.output, listed.ok() ? listed.output : "");
  return partitions;
}

std::vector<std::string> clusters_in(const std::string& directives) {
  for (const std::string& line : split(directives, "\n")) {
    const auto words = split_names(replace_all(line, "=", " "), " ");
    if (words.empty() || words[0] != "#SBATCH")
      continue;
    for (std::size_t k = 1; k + 1 < words.size() && !words[k].starts_with('#'); ++k)
      if (words[k] == "-M" || words[k] == "--clusters" || words[k] == "--cluster")
        return split_names(words[k + 1]);
  }
  return {};
}

namespace {

constexpr std::array<std::string_view, 27> slurm_options{"--array",
                                                         "-a",
                                                         "--clusters",
                                                         "-M",
                                                         "--comment",
                                                         "--dependency",
                                                         "-d",
                                                         "--kill-on-invalid-dep",
                                                         "--error",
                                                         "-e",
                                                         "--job-name",
                                                         "-J",
                                                         "--nodes",
                                                         "-N",
                                                         "--ntasks-per-node",
                                                         "--output",
                                                         "-o",
                                                         "--open-mode",
                                                         "--parsable",
                                                         "--requeue",
                                                         "--no-requeue",
                                                         "--test-only",
                                                         "--time",
                                                         "-t",
                                                         "--wait",
                                                         "-W",
                                                         "--wrap"};

}  // namespace

const SystemKind slurm_kind{
    .name = "slurm",
    .capabilities = {.queues_jobs = true,
                     .keeps_comments = true,
                     .has_job_steps = true,
                     .limits_running = true,
                     .expands_patterns = true,
                     .step_launcher = "srun"},
    .make = [](const SystemOptions& options) -> std::unique_ptr<BatchSystem> {
      return std::make_unique<Slurm>(clusters_in(options.directives));
    },
    .arrays = {.first = 0,
               .line = "$((${SLURM_ARRAY_TASK_ID:-0} + 1))",
               .most = 1001,
               .range = plain_range,
               .after = after_jobs},
    .job_variable = "SLURM_JOB_ID",
    .job_prefix = "SLURM_JOB_",
    .job_nodes = "${SLURM_JOB_NODELIST:-}",
    .submit_message = R"(Submitted batch job (\d+))",
    .submit_variables = {"SBATCH_PARTITION", "SBATCH_ACCOUNT", "SBATCH_QOS", "SBATCH_RESERVATION"},
    .directive = "#SBATCH",
    .own_options = slurm_options,
    .misleads =
        [](std::string_view name) {
          return name.starts_with("SBATCH_") || name.starts_with("SQUEUE_") ||
                 name.starts_with("SACCT_") || (name.starts_with("SLURM_") && name != "SLURM_CONF");
        },
};

// Its jobs are job steps, which bench starts itself.
const SystemKind slurm_allocation_kind{
    .name = "allocation",
    .capabilities = {.has_job_steps = true, .fills_allocation = true, .step_launcher = "srun"},
    .make = make_no_system};

}  // namespace bench::machine
