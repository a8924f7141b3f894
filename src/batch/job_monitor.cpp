#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/below.hpp>
#include <bench/base/chunks.hpp>
#include <bench/base/outcome.hpp>
#include <bench/batch/batch_system.hpp>
#include <bench/batch/failed_node.hpp>
#include <bench/batch/job_id.hpp>
#include <bench/batch/job_monitor.hpp>
#include <bench/batch/known_jobs.hpp>
#include <bench/execute/job.hpp>
#include <bench/execute/sentinel.hpp>

namespace bench::batch {

using execute::Completion;
using execute::completion_from_sentinel;
using execute::last_line;
using execute::read_sentinel;
using execute::Sentinel;
using execute::was_cancelled;

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

}  // namespace

JobMonitor::JobMonitor(std::unique_ptr<BatchSystem> system, BatchSettings settings,
                       std::function<Clock::time_point()> now)
    : system_(std::move(system)), settings_(settings), now_(std::move(now)) {}

void JobMonitor::add(BatchJob job) {
  const long long workpackage = job.job.workpackage;
  jobs_.insert_or_assign(workpackage,
                         Watched{.job = std::move(job), .end = {}, .doubtful_since = {}});
  pause_s_ = 0;
  next_update_ = now_();
}

int JobMonitor::max_array_size() {
  const int of_system = system_->max_array_size();
  return settings_.max_array_size > 0 ? std::min(settings_.max_array_size, of_system) : of_system;
}

std::map<long long, std::string> JobMonitor::ids() const {
  std::map<long long, std::string> ids;
  for (const auto& [workpackage, watched] : jobs_)
    if (!watched.job.id.empty())
      ids[workpackage] = watched.job.id;
  return ids;
}

std::string JobMonitor::id_of(long long workpackage) const {
  const auto found = jobs_.find(workpackage);
  return found == jobs_.end() ? "" : found->second.job.id;
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
    const std::string& id = watched.job.id;
    if (id.empty())
      return system_->ask_for_all();
    ids.insert(watched.job.task ? array_of(id) : id);
  }
  QueryResult all;
  const std::vector<std::string> each(ids.begin(), ids.end());
  for (const auto& some : chunks_of(each, settings_.ids_at_once)) {
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
  for (const Completion& completion : news.completions) {
    const auto ended = jobs_.find(completion.workpackage);
    if (ended->second.job.task && completion.outcome != Outcome::interrupted)
      arrived_.insert(ended->second.job.submission);
    jobs_.erase(ended);
  }
  plan_update(!news.completions.empty() || !news.found.empty());
  return news;
}

void JobMonitor::ask_system(News& news) {
  news.asked = true;
  const QueryResult queue = ask_queue();
  failure_ = queue.failure;
  KnownJobs known(queue.jobs);
  std::vector<Watched*> unknown;
  for (auto& [workpackage, watched] : jobs_)
    if (!update(watched, known, news) && failure_.empty())
      unknown.push_back(&watched);
  if (!unknown.empty())
    query_accounting(unknown, known, news);
  plan_question();
}

/// A success needs no query. Other sentinels wait for the report of the batch system.
void JobMonitor::read_sentinels(News& news) {
  for (auto& [workpackage, watched] : jobs_) {
    if (watched.end)
      settle_end(watched, news);
    else if (auto told = completion_from_sentinel(watched.job.job); told && told->success())
      news.completions.push_back(std::move(*told));
  }
}

void JobMonitor::put_off(const std::string& failure) {
  failure_ = failure;
  plan_question();
  plan_update(false);
}

/// @returns true if the progress of this attempt is known
bool JobMonitor::update(Watched& watched, const KnownJobs& known, News& news) {
  const BatchJob& job = watched.job;
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
    watched.job.id = report->id;
    news.found.emplace_back(job.job.workpackage, report->id);
  }
  if (report->state != JobReport::State::ended) {
    watched.doubtful_since.reset();
    watched.end.reset();
    watched.running = report->state == JobReport::State::running;
    notice_blocked(watched, *report, news);
    return true;
  }
  watched.end = *report;
  if (!says_why(*report) && was_cancelled(job.job))
    watched.end->outcome = Outcome::cancelled;
  return settle_end(watched, news);
}

/// @returns true: the progress of this attempt is known, even while its sentinel is awaited
bool JobMonitor::settle_end(Watched& watched, News& news) {
  const auto told = completion_from_sentinel(watched.job.job);
  if (told || out_of_patience(watched))
    news.completions.push_back(conclude(watched.job, *watched.end, told));
  return true;
}

/// The sentinel says what the commands did, the batch system what was done to the job.
Completion JobMonitor::conclude(const BatchJob& job, const JobReport& report,
                                const std::optional<Completion>& told) const {
  if (told && (told->success() || !says_why(report)))
    return *told;
  const Completion by_system = completion_by_report(job, report, system_->name());
  Completion completion = told.value_or(by_system);
  completion.outcome = by_system.outcome;
  completion.reason = by_system.reason;
  if (may_be_fault_of_node(completion.outcome))
    if (const std::string node = system_->failed_node(report, job.job.work_directory / "stderr");
        !node.empty()) {
      completion.host = node;
      completion.reason = reason_with_node(node, completion.reason);
    }
  return completion;
}

bool JobMonitor::out_of_patience(Watched& watched) {
  const auto now = now_();
  if (!watched.doubtful_since)
    watched.doubtful_since = now;
  const std::chrono::duration<double> waited = now - *watched.doubtful_since;
  return waited.count() >= settings_.grace_s;
}

bool JobMonitor::unsettled() const {
  return std::ranges::any_of(jobs_,
                             [](const auto& one) { return one.second.doubtful_since.has_value(); });
}

/// Decides about attempts that are no longer in the queue.
void JobMonitor::query_accounting(const std::vector<Watched*>& unknown, KnownJobs& known,
                                  News& news) {
  std::set<std::string> ids;
  for (const Watched* watched : unknown) {
    if (!watched->job.id.empty())
      ids.insert(watched->job.id);
    // If one task began, the whole array reached the batch system.
    const auto begun = read_sentinel(watched->job.job.sentinel);
    if (watched->job.task && begun && begun->attempt == watched->job.job.uuid)
      arrived_.insert(watched->job.submission);
  }
  if (!ids.empty()) {
    const QueryResult accounting = system_->query_accounting({ids.begin(), ids.end()});
    failure_ = accounting.failure;
    if (!failure_.empty())
      return;
    known.add(accounting.jobs);
  }
  for (Watched* watched : unknown)
    if (!update(*watched, known, news) &&
        (completion_from_sentinel(watched->job.job) || out_of_patience(*watched)))
      news.completions.push_back(conclude_unknown(watched->job, known, news));
}

/// The batch system does not know the attempt; its sentinel shows whether it began.
Completion JobMonitor::conclude_unknown(const BatchJob& job, const KnownJobs& known, News& news) {
  const std::string name = job.id.empty() ? "the job" : "job " + job.id;
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
  } else if (was_cancelled(job.job) || job.siblings_known || arrived_.contains(job.submission) ||
             known.knows_sibling(job)) {
    completion.outcome = Outcome::cancelled;
    completion.reason = fmt::format("{} {} was cancelled before it began", system_->name(), name);
  } else {
    completion.outcome = Outcome::interrupted;
    completion.lost_in_queue = true;
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

void JobMonitor::notice_blocked(const Watched& watched, const JobReport& report, News& news) {
  if (report.state != JobReport::State::blocked && report.state != JobReport::State::without_nodes)
    return;
  const std::string why = report.reason.empty() ? report.word : report.reason;
  if (told_.insert(fmt::format("{} {}", watched.job.submission, why)).second)
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
          ? settings_.interval_s
          : std::min(longest_patience_s, std::max({soon_s, settings_.interval_s, patience_s_ * 2}));
  static std::minstd_rand random{std::random_device()()};
  const double jitter = std::uniform_real_distribution<double>(1.0, 1.2)(random);
  next_question_ = now_() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(patience_s_ * jitter));
}

void JobMonitor::plan_update(bool news) {
  pause_s_ = news || unsettled() ? soon_s : std::max(soon_s, pause_s_ * 1.5);
  pause_s_ = std::min(pause_s_, settings_.interval_s);
  const auto pause = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
      unsettled() ? std::min(pause_s_, settings_.grace_s) : pause_s_));
  next_update_ = now_() + pause;
  if (next_question_ > now_())
    next_update_ = std::min(next_update_, next_question_);
}

double JobMonitor::seconds_to_update() const {
  return std::max(0.0, std::chrono::duration<double>(next_update_ - now_()).count());
}

}  // namespace bench::batch
