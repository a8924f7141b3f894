#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/chunks.hpp>
#include <bench/base/files.hpp>
#include <bench/base/outage.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/text.hpp>
#include <bench/base/uuid.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/machine/sentinel.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {

namespace {

/// Between two updates right after news.
constexpr double soon_s = 2;
/// Between two queries to a batch system that does not answer.
constexpr double longest_patience_s = 300;

/// The last line of the workpackage's errors; if it never began, that of its job.
std::string last_words(const BatchJob& job) {
  const std::string own = last_line(job.job.work_directory / "stderr");
  const bool has_begun = is_there(job.job.sentinel);
  return own.empty() && !has_begun && !job.messages.empty() ? last_line(job.messages) : own;
}

Completion completion_by_report(const BatchJob& job, const JobReport& report,
                                const std::string& system) {
  Completion completion;
  completion.workpackage = job.job.workpackage;
  completion.host = report.host;
  completion.outcome = report.outcome == Outcome::done ? Outcome::failed : report.outcome;
  completion.reason =
      report.outcome == Outcome::done
          ? fmt::format("{} job {} ended ({}) without its sentinel", system, report.id, report.word)
          : fmt::format("{} job {}: {}", system, report.id, report.word);
  if (!report.reason.empty())
    completion.reason += fmt::format(" ({})", report.reason);
  if (const std::string said = last_words(job); !said.empty())
    completion.reason += ": " + said;
  return completion;
}

/// False if the system says only that the job has ended.
bool says_why(const JobReport& report) {
  return report.outcome != Outcome::done && report.outcome != Outcome::failed;
}

/// The outcome by the note of `bench cancel`, or by messages of the system's daemons in the job's
/// files, which remain when every record is gone. In a file shared with other jobs only messages
/// about this job count.
std::optional<Outcome> ended_by_system(const BatchSystem& system, const BatchJob& job,
                                       const std::optional<Sentinel>& begun) {
  if (!begun || begun->attempt != job.job.uuid)
    return std::nullopt;
  if (was_cancelled(job.job))
    return Outcome::cancelled;
  const auto own = system.end_told_in(job.job.work_directory / "stderr", begun->job_id);
  return own || begun->job_id.empty() || job.messages.empty()
             ? own
             : system.end_told_in(job.messages, begun->job_id);
}

/// What the batch system says of a job that began, with what else is known of it. Its commands ran,
/// so it cannot have failed to start: Slurm says so of a job that it ended for want of memory. And
/// a batch system that restarts a job executes nothing, so that how it ended says nothing; Slurm
/// may even refuse the start, and then says that the job has failed.
JobReport refined(JobReport report, const std::optional<Outcome>& told_by_daemon,
                  const Sentinel& sentinel, const BatchJob& job) {
  constexpr int ended_by_sigterm = 128 + 15;
  if (report.outcome == Outcome::launch_failure)
    report.outcome = told_by_daemon.value_or(Outcome::failed);
  if (says_why(report))
    return report;
  if (told_by_daemon == Outcome::out_of_memory) {
    report.outcome = Outcome::out_of_memory;
  } else if ((was_restarted(job.job) || told_by_daemon == Outcome::preempted) &&
             sentinel.exit_code.value_or(ended_by_sigterm) == ended_by_sigterm) {
    report.outcome = Outcome::preempted;
    report.word = "taken off its nodes and requeued";
    report.reason.clear();
  }
  return report;
}

/// Where the directory of a workpackage was when its script was written, if it has been moved
/// since: a job that begins finds nothing there. Empty if it has not been moved.
std::filesystem::path former_directory(const Job& job) {
  const std::string name = "\nbench_script=";
  if (!job.is_batch() || !is_there(job.script))
    return {};
  const std::string text = read_file(job.script);
  const auto at = text.find(name);
  if (at == std::string::npos ||
      text.find(name + shell_quote(job.script.string()) + "\n") != std::string::npos)
    return {};
  std::string word = text.substr(at + name.size());
  word.resize(std::min(word.size(), word.find('\n')));
  if (word.size() > 1 && word.starts_with('\'') && word.ends_with('\''))
    word = replace_all(word.substr(1, word.size() - 2), R"('\'')", "'");
  // A link may lead to the same file by another name.
  const std::filesystem::path former(word);
  std::error_code absent;
  return std::filesystem::equivalent(former, job.script, absent) ? std::filesystem::path{}
                                                                 : former.parent_path();
}

/// A path by its end below `directory`, where it is there.
std::string below(const std::filesystem::path& path, const std::filesystem::path& directory) {
  const std::string beginning = directory.string() + "/";
  std::string text = path.string();
  return !directory.empty() && text.starts_with(beginning) ? text.substr(beginning.size()) : text;
}

/// The reverse.
std::filesystem::path whole(const std::string& text, const std::filesystem::path& directory) {
  return text.empty() ? std::filesystem::path{} : directory / text;
}

}  // namespace

JobMonitor::JobMonitor(std::unique_ptr<BatchSystem> system, Polling polling,
                       std::function<Clock::time_point()> now)
    : system_(std::move(system)), polling_(polling), now_(std::move(now)) {}

void JobMonitor::add(const BatchJob& job) {
  if (!latest_ || latest_->submission != job.submission || latest_->name != job.name ||
      latest_->messages != job.messages)
    latest_ = std::make_shared<const Shared>(
        Shared{.submission = job.submission, .name = job.name, .messages = job.messages});
  const std::filesystem::path& directory = job.job.directory;
  jobs_.insert_or_assign(job.job.workpackage,
                         Watched{.shared = latest_,
                                 .uuid = job.job.uuid,
                                 .directory = directory.string(),
                                 .work_directory = below(job.job.work_directory, directory),
                                 .script = below(job.job.script, directory),
                                 .sentinel = below(job.job.sentinel, directory),
                                 .id = job.id,
                                 .task = job.task,
                                 .keep_environment = job.job.keep_environment});
  pause_s_ = 0;
  next_update_ = now_();
}

BatchJob JobMonitor::job_of(long long workpackage, const Watched& watched) {
  BatchJob job{.job = {},
               .submission = watched.shared->submission,
               .name = watched.shared->name,
               .id = watched.id,
               .task = watched.task,
               .messages = watched.shared->messages};
  job.job.workpackage = workpackage;
  job.job.uuid = watched.uuid;
  job.job.directory = watched.directory;
  job.job.work_directory = whole(watched.work_directory, job.job.directory);
  job.job.script = whole(watched.script, job.job.directory);
  job.job.sentinel = whole(watched.sentinel, job.job.directory);
  job.job.keep_environment = watched.keep_environment;
  return job;
}

int JobMonitor::max_array_size() {
  const int of_system = system_->max_array_size();
  return polling_.max_array_size > 0 ? std::min(polling_.max_array_size, of_system) : of_system;
}

std::map<long long, std::string> JobMonitor::ids() const {
  std::map<long long, std::string> ids;
  for (const auto& [workpackage, watched] : jobs_)
    if (!watched.id.empty())
      ids[workpackage] = watched.id;
  return ids;
}

std::string JobMonitor::id_of(long long workpackage) const {
  const auto found = jobs_.find(workpackage);
  return found == jobs_.end() ? "" : found->second.id;
}

std::vector<long long> JobMonitor::running() const {
  std::vector<long long> running;
  for (const auto& [workpackage, watched] : jobs_)
    if (watched.running)
      running.push_back(workpackage);
  return running;
}

/// Queries in one call, or in a few where there are very many ids.
QueryResult JobMonitor::ask_queue() {
  std::set<std::string> ids;
  for (const auto& [workpackage, watched] : jobs_) {
    if (watched.id.empty())
      return system_->ask_for_all();
    ids.insert(watched.task ? array_of(watched.id) : watched.id);
  }
  QueryResult all;
  const std::vector<std::string> each(ids.begin(), ids.end());
  for (const auto& some : chunks_of(each, static_cast<std::size_t>(polling_.jobs_per_question))) {
    QueryResult answer = system_->ask({some.begin(), some.end()});
    all.failure += answer.failure;
    std::ranges::move(answer.jobs, std::back_inserter(all.jobs));
  }
  return all;
}

JobMonitor::News JobMonitor::update() {
  News news;
  if (jobs_.empty())
    return news;
  if (now_() >= next_question_)
    ask_system(news);
  else
    read_sentinels(news);
  for (const Completion& completion : news.completions)
    jobs_.erase(completion.workpackage);
  plan_update(!news.completions.empty() || !news.found.empty());
  return news;
}

void JobMonitor::ask_system(News& news) {
  news.asked = true;
  QueryResult queue = ask_queue();
  failure_ = std::move(queue.failure);
  KnownJobs known(std::move(queue.jobs));
  std::vector<long long> unknown;
  for (auto& [workpackage, watched] : jobs_)
    if (!update(workpackage, watched, known, news) && failure_.empty())
      unknown.push_back(workpackage);
  if (!unknown.empty())
    query_accounting(unknown, known, news);
  plan_question();
}

/// A success needs no query. Other sentinels wait for the report of the batch system.
void JobMonitor::read_sentinels(News& news) {
  for (auto& [workpackage, watched] : jobs_) {
    const BatchJob job = job_of(workpackage, watched);
    if (watched.end)
      settle_end(job, watched, news);
    else if (auto told = completion_from_sentinel(job.job); told && told->success())
      news.completions.push_back(std::move(*told));
  }
}

void JobMonitor::put_off(const std::string& failure) {
  failure_ = failure;
  plan_question();
  plan_update(false);
}

/// @returns true if the progress of this attempt is known
bool JobMonitor::update(long long workpackage, Watched& watched, const KnownJobs& known,
                        News& news) {
  const BatchJob job = job_of(workpackage, watched);
  // Read after the query: an attempt that was running then may have ended since.
  const auto told = completion_from_sentinel(job.job);
  if (told && told->success()) {
    news.completions.push_back(*told);
    return true;
  }
  const JobReport* report = known.find(job);
  if (!report)
    return false;
  if (job.id.empty()) {
    watched.id = report->id;
    news.found.emplace_back(job.job.workpackage, report->id);
  }
  if (report->state != JobReport::State::ended) {
    watched.doubtful_since.reset();
    watched.end.reset();
    watched.running = report->state == JobReport::State::running;
    notice_blocked(job, *report, news);
    return true;
  }
  JobReport end = *report;
  if (!says_why(end) && was_cancelled(job.job))
    end.outcome = Outcome::cancelled;
  watched.end = std::make_unique<const JobReport>(std::move(end));
  return settle_end(job, watched, news);
}

/// @returns true: the progress of this attempt is known, even while its sentinel is awaited
bool JobMonitor::settle_end(const BatchJob& job, Watched& watched, News& news) {
  const auto told = completion_from_sentinel(job.job);
  if (told || out_of_patience(watched))
    news.completions.push_back(conclude(job, *watched.end, told, news));
  return true;
}

/// The sentinel says what the commands did, the batch system what was done to the job.
Completion JobMonitor::conclude(const BatchJob& job, const JobReport& of_job,
                                std::optional<Completion> told, News& news) {
  if (told && told->success())
    return *told;
  const std::filesystem::path from =
      was_cancelled(job.job) ? std::filesystem::path{} : former_directory(job.job);
  if (!told && !from.empty() && collect(job, from, news)) {
    told = completion_from_sentinel(job.job);
    if (told && told->success())
      return *told;
  }
  const auto sentinel = read_sentinel(job.job.sentinel);
  const bool has_begun = sentinel && sentinel->attempt == job.job.uuid;
  if (!has_begun && !from.empty())
    return conclude_moved(job, from, news);
  const JobReport report =
      has_begun ? refined(of_job, ended_by_system(*system_, job, sentinel), *sentinel, job)
                : of_job;
  if (told && !says_why(report))
    return *told;
  const Completion by_system = completion_by_report(job, report, system_->name());
  Completion completion = told.value_or(by_system);
  completion.outcome = by_system.outcome;
  completion.reason = by_system.reason;
  if (!told && !from.empty())
    completion.reason +=
        fmt::format("; the run was moved from {} meanwhile", from.parent_path().string());
  if (may_be_fault_of_node(completion.outcome))
    if (const std::string node = system_->failed_node(report, job.job.work_directory / "stderr");
        !node.empty()) {
      completion.host = node;
      completion.reason = reason_with_node(node, completion.reason);
    }
  return completion;
}

/// Brings what a job has left where its run was before: that was copied, say, and not renamed.
/// @returns whether the job began there
bool JobMonitor::collect(const BatchJob& job, const std::filesystem::path& from, News& news) {
  if (!collect_attempt(job.job, from))
    return false;
  const std::string run = from.parent_path().string();
  if (told_.insert("collected " + run).second)
    news.notices.push_back(
        fmt::format("this run was moved from {} while {} had jobs of it; what they left there is "
                    "copied here",
                    run, system_->name()));
  return true;
}

/// The job began after its run was moved, so that it executed nothing.
Completion JobMonitor::conclude_moved(const BatchJob& job, const std::filesystem::path& from,
                                      News& news) {
  if (told_.insert("moved " + job.submission).second)
    news.notices.push_back(fmt::format(
        "this run was moved while {} had jobs of it, and those that begin find nothing in {}; "
        "bench submits them again from here",
        system_->name(), from.parent_path().string()));
  Completion completion;
  completion.workpackage = job.job.workpackage;
  completion.outcome = Outcome::interrupted;
  completion.reason = fmt::format("the run was moved from {} before {} job {} began",
                                  from.parent_path().string(), system_->name(), job.id);
  return completion;
}

bool JobMonitor::out_of_patience(Watched& watched) {
  const auto now = now_();
  if (!watched.doubtful_since)
    watched.doubtful_since = now;
  const std::chrono::duration<double> waited = now - *watched.doubtful_since;
  return waited.count() >= polling_.sentinel_grace_s;
}

bool JobMonitor::unsettled() const {
  return std::ranges::any_of(jobs_,
                             [](const auto& one) { return one.second.doubtful_since.has_value(); });
}

/// Decides about attempts that are no longer in the queue.
void JobMonitor::query_accounting(const std::vector<long long>& unknown, KnownJobs& known,
                                  News& news) {
  std::set<std::string> ids;
  for (const long long workpackage : unknown)
    if (const std::string& id = jobs_.at(workpackage).id; !id.empty())
      ids.insert(id);
  if (!ids.empty()) {
    QueryResult accounting = system_->query_accounting({ids.begin(), ids.end()});
    failure_ = std::move(accounting.failure);
    if (!failure_.empty()) {
      conclude_without_accounting(unknown, news);
      return;
    }
    without_accounting_since_.reset();
    known.add(std::move(accounting.jobs));
  }
  for (const long long workpackage : unknown) {
    Watched& watched = jobs_.at(workpackage);
    if (update(workpackage, watched, known, news))
      continue;
    const BatchJob job = job_of(workpackage, watched);
    if (completion_from_sentinel(job.job) || out_of_patience(watched))
      news.completions.push_back(conclude_unknown(job, known, news));
  }
}

/// An accounting that stays silent does not keep a run from its end: then the sentinels alone say
/// how their attempts ended. Jobs without one are waited for.
void JobMonitor::conclude_without_accounting(const std::vector<long long>& unknown, News& news) {
  const auto now = now_();
  if (!without_accounting_since_)
    without_accounting_since_ = now;
  const std::chrono::duration<double> silent = now - *without_accounting_since_;
  if (silent.count() < outage_patience_s())
    return;
  for (const long long workpackage : unknown)
    if (auto told = completion_from_sentinel(job_of(workpackage, jobs_.at(workpackage)).job)) {
      told->reason +=
          fmt::format(" (the accounting, which may know why, did not answer: {})", failure_);
      news.completions.push_back(std::move(*told));
    }
}

/// The batch system does not know the attempt; its sentinel shows whether it began.
Completion JobMonitor::conclude_unknown(const BatchJob& job, const KnownJobs& known, News& news) {
  const std::string name = job.id.empty() ? "the job" : "job " + job.id;
  if (!completion_from_sentinel(job.job) && !was_cancelled(job.job))
    if (const auto from = former_directory(job.job); !from.empty())
      collect(job, from, news);
  const auto begun = read_sentinel(job.job.sentinel);
  const auto ended = ended_by_system(*system_, job, begun);
  if (auto told = completion_from_sentinel(job.job)) {
    if (!told->success() && ended) {
      told->outcome = *ended;
      told->reason =
          fmt::format("{} {}: {}, {}", system_->name(), name, name_of(*ended), told->reason);
    }
    return *told;
  }
  Completion completion;
  completion.workpackage = job.job.workpackage;
  if (begun && begun->attempt == job.job.uuid && ended) {
    completion.outcome = *ended;
    completion.host = begun->host;
    completion.started_unix_s = begun->started_unix_s;
    completion.reason = fmt::format("{} {}: {}", system_->name(), name, name_of(*ended));
  } else if (begun && begun->attempt == job.job.uuid) {
    completion.outcome = Outcome::lost;
    completion.host = begun->host;
    completion.started_unix_s = begun->started_unix_s;
    completion.reason =
        fmt::format("{} no longer knows {}, which had begun on {} and left no sentinel",
                    system_->name(), name, begun->host);
  } else if (was_cancelled(job.job) || known.holds_siblings(job)) {
    completion.outcome = Outcome::cancelled;
    completion.reason = fmt::format("{} {} was cancelled before it began", system_->name(), name);
  } else {
    completion.outcome = Outcome::interrupted;
    // A submission whose answer nobody heard may not have arrived: nothing was lost then.
    completion.lost_in_queue = !job.id.empty();
    completion.reason =
        fmt::format("{} does not know {}, which never began", system_->name(), name);
    const std::string array = job.task ? array_of(job.id) : job.id;
    if (told_.insert("lost " + array).second)
      news.notices.push_back(
          array.empty() ? fmt::format("a submission did not reach {}; bench submits it again",
                                      system_->name())
                        : fmt::format("{} lost job {} before it began; bench submits it again",
                                      system_->name(), array));
  }
  return completion;
}

void JobMonitor::notice_blocked(const BatchJob& job, const JobReport& report, News& news) {
  if (report.state != JobReport::State::blocked && report.state != JobReport::State::without_nodes)
    return;
  const std::string why = report.reason.empty() ? report.word : report.reason;
  if (told_.insert(fmt::format("{} {}", job.submission, why)).second)
    news.notices.push_back(fmt::format("{} job {} {}: {}", system_->name(), report.id,
                                       report.state == JobReport::State::blocked
                                           ? "will not start by itself"
                                           : "waits for nodes that are down or drained",
                                       why));
}

/// Varies a little, so that many benches do not query at the same time.
void JobMonitor::plan_question() {
  patience_s_ =
      failure_.empty()
          ? polling_.interval_s
          : std::min(longest_patience_s, std::max({soon_s, polling_.interval_s, patience_s_ * 2}));
  static std::minstd_rand random{std::random_device()()};
  const double jitter = std::uniform_real_distribution<double>(1.0, 1.2)(random);
  next_question_ = now_() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(patience_s_ * jitter));
}

void JobMonitor::plan_update(bool news) {
  pause_s_ = news || unsettled() ? soon_s : std::max(soon_s, pause_s_ * 1.5);
  pause_s_ = std::min(pause_s_, polling_.interval_s);
  const auto pause = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
      unsettled() ? std::min(pause_s_, polling_.sentinel_grace_s) : pause_s_));
  next_update_ = now_() + pause;
  if (next_question_ > now_())
    next_update_ = std::min(next_update_, next_question_);
}

double JobMonitor::seconds_to_update() const {
  return std::max(0.0, std::chrono::duration<double>(next_update_ - now_()).count());
}

KnownJobs::KnownJobs(std::vector<JobReport> queue) {
  add(std::move(queue));
  for (const JobReport& job : answers_.front()) {
    held_submissions_.insert(job.comment);
    if (job.task && !is_uuid(job.comment))
      held_arrays_.emplace(array_of(job.id), job.name);
  }
}

void KnownJobs::add(std::vector<JobReport> ended) {
  for (const JobReport& job : answers_.emplace_back(std::move(ended))) {
    by_id_.try_emplace(job.id, &job);
    if (!job.comment.empty())
      by_comment_.try_emplace({job.comment, job.task.value_or(-1)}, &job);
    else if (!job.name.empty())
      by_name_.try_emplace({job.name, job.task.value_or(-1)}, &job);
  }
}

const JobReport* KnownJobs::find(const BatchJob& job) const {
  const auto same = by_comment_.find({job.submission, job.task.value_or(-1)});
  if (same != by_comment_.end())
    return same->second;
  if (!job.id.empty()) {
    const auto found = by_id_.find(job.id);
    if (found == by_id_.end() || is_uuid(found->second->comment))
      return nullptr;
    const std::string& name = found->second->name;
    return name.empty() || name == job.name ? found->second : nullptr;
  }
  const auto named = by_name_.find({job.name, job.task.value_or(-1)});
  return named == by_name_.end() ? nullptr : named->second;
}

bool KnownJobs::holds_siblings(const BatchJob& job) const {
  return held_submissions_.contains(job.submission) ||
         (job.task && held_arrays_.contains({array_of(job.id), job.name}));
}

}  // namespace bench::machine
