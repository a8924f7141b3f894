#include "known_jobs.hpp"

#include <algorithm>
#include <random>

#include <fmt/core.h>

#include <bench/base/chunks.hpp>
#include <bench/schedule/batch.hpp>
#include <bench/schedule/sentinel.hpp>

namespace bench::schedule {
namespace {

/// Between two questions while something has just happened.
constexpr double soon_s = 2;
/// Between two questions to a batch system that does not answer.
constexpr double longest_patience_s = 300;

Completion completion_by_report(const Job& job, const JobReport& report,
                                const std::string& system) {
  Completion completion;
  completion.workpackage = job.workpackage;
  completion.host = report.host;
  completion.outcome = report.outcome == Outcome::done ? Outcome::failed : report.outcome;
  completion.reason =
      report.outcome == Outcome::done
          ? fmt::format("{} job {} ended ({}) without its sentinel", system, report.id, report.word)
          : fmt::format("{} job {}: {}", system, report.id, report.word);
  if (!report.reason.empty())
    completion.reason += fmt::format(" ({})", report.reason);
  if (const std::string said = last_line(job.work_directory / "stderr"); !said.empty())
    completion.reason += ": " + said;
  return completion;
}

}  // namespace

BatchQueue::BatchQueue(std::unique_ptr<BatchSystem> system, BatchSettings settings)
    : system_(std::move(system)), settings_(settings) {}

void BatchQueue::add(BatchJob job) {
  const long long workpackage = job.job.workpackage;
  jobs_.insert_or_assign(workpackage,
                         Watched{.job = std::move(job), .doubtful_since = {}, .running = false});
  pause_s_ = 0;
  next_ = std::max(Clock::now(), next_);
}

int BatchQueue::max_array_size() {
  const int of_system = system_->max_array_size();
  return settings_.max_array_size > 0 ? std::min(settings_.max_array_size, of_system) : of_system;
}

std::map<long long, std::string> BatchQueue::ids() const {
  std::map<long long, std::string> ids;
  for (const auto& [workpackage, watched] : jobs_)
    if (!watched.job.id.empty())
      ids[workpackage] = watched.job.id;
  return ids;
}

std::vector<long long> BatchQueue::running() const {
  std::vector<long long> running;
  for (const auto& [workpackage, watched] : jobs_)
    if (watched.running)
      running.push_back(workpackage);
  return running;
}

/// One call, or a few where there are very many ids.
Answer BatchQueue::ask_queue() {
  std::set<std::string> ids;
  for (const auto& [workpackage, watched] : jobs_) {
    const std::string& id = watched.job.id;
    if (id.empty())
      return system_->ask_for_all();
    ids.insert(watched.job.task ? id.substr(0, id.find('_')) : id);
  }
  Answer all;
  const std::vector<std::string> each(ids.begin(), ids.end());
  for (const auto& some : chunks_of(each, settings_.ids_at_once)) {
    Answer answer = system_->ask({some.begin(), some.end()});
    all.trouble += answer.trouble;
    std::ranges::move(answer.jobs, std::back_inserter(all.jobs));
  }
  return all;
}

BatchQueue::News BatchQueue::ask() {
  News news;
  unsettled_ = false;
  if (jobs_.empty())
    return news;
  const Answer queue = ask_queue();
  trouble_ = queue.trouble;
  KnownJobs known(queue.jobs);
  std::vector<Watched*> unknown;
  for (auto& [workpackage, watched] : jobs_)
    if (!look_after(watched, known, news) && trouble_.empty())
      unknown.push_back(&watched);
  if (!unknown.empty())
    look_up(unknown, known, news);
  for (const Completion& completion : news.completions) {
    const auto ended = jobs_.find(completion.workpackage);
    if (ended->second.job.task && completion.outcome != Outcome::interrupted)
      arrived_.insert(ended->second.job.submission);
    jobs_.erase(ended);
  }
  plan_next(!news.completions.empty() || !news.found.empty());
  return news;
}

/// @returns whether it is known how this attempt is getting on
bool BatchQueue::look_after(Watched& watched, const KnownJobs& known, News& news) {
  const BatchJob& job = watched.job;
  // Asked after the queue: an attempt that was still running then may have left it since.
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
    watched.running = report->state == JobReport::State::running;
    if (report->state == JobReport::State::blocked)
      notice_blocked(watched, *report, news);
    return true;
  }
  if (told || out_of_patience(watched))
    news.completions.push_back(conclude(job, *report, told));
  return true;
}

/// The job's sentinel tells what its commands did, the batch system what was done to it.
Completion BatchQueue::conclude(const BatchJob& job, const JobReport& report,
                                const std::optional<Completion>& told) const {
  if (told && (report.outcome == Outcome::done || report.outcome == Outcome::failed))
    return *told;
  Completion completion = completion_by_report(job.job, report, system_->name());
  if (!told)
    return completion;
  Completion both = *told;
  both.outcome = completion.outcome;
  both.reason = completion.reason;
  return both;
}

bool BatchQueue::out_of_patience(Watched& watched) {
  const auto now = Clock::now();
  if (!watched.doubtful_since)
    watched.doubtful_since = now;
  const std::chrono::duration<double> waited = now - *watched.doubtful_since;
  if (waited.count() >= settings_.grace_s)
    return true;
  unsettled_ = true;
  return false;
}

/// Settles those that are no longer in the queue.
void BatchQueue::look_up(const std::vector<Watched*>& unknown, KnownJobs& known, News& news) {
  std::set<std::string> ids;
  for (const Watched* watched : unknown) {
    if (!watched->job.id.empty())
      ids.insert(watched->job.id);
    // Where one task has begun, the others were not lost on the way.
    const auto begun = read_sentinel(watched->job.job.sentinel);
    if (watched->job.task && begun && begun->attempt == watched->job.job.uuid)
      arrived_.insert(watched->job.submission);
  }
  if (!ids.empty()) {
    const Answer books = system_->look_up({ids.begin(), ids.end()});
    trouble_ = books.trouble;
    if (!trouble_.empty())
      return;
    known.add(books.jobs);
  }
  for (Watched* watched : unknown)
    if (!look_after(*watched, known, news) &&
        (completion_from_sentinel(watched->job.job) || out_of_patience(*watched)))
      news.completions.push_back(conclude_unknown(watched->job, known, news));
}

/// Nobody knows of the attempt any more. What it left tells whether it began.
Completion BatchQueue::conclude_unknown(const BatchJob& job, const KnownJobs& known, News& news) {
  if (const auto told = completion_from_sentinel(job.job))
    return *told;
  Completion completion;
  completion.workpackage = job.job.workpackage;
  const std::string name = job.id.empty() ? "the job" : "job " + job.id;
  const auto begun = read_sentinel(job.job.sentinel);
  if (begun && begun->attempt == job.job.uuid) {
    completion.outcome = Outcome::lost;
    completion.host = begun->host;
    completion.started_unix_s = begun->started_unix_s;
    completion.reason =
        fmt::format("{} no longer knows {}, which had begun on {} and left no sentinel",
                    system_->name(), name, begun->host);
  } else if (job.siblings_known || arrived_.contains(job.submission) ||
             known.knows_submission(job.submission)) {
    completion.outcome = Outcome::cancelled;
    completion.reason = fmt::format("{} {} was cancelled before it began", system_->name(), name);
  } else {
    completion.outcome = Outcome::interrupted;
    completion.reason =
        fmt::format("{} does not know {}, which never began", system_->name(), name);
    const std::string array = job.id.substr(0, job.id.find('_'));
    if (told_.insert("lost " + array).second)
      news.notices.push_back(
          array.empty()
              ? fmt::format("a submission did not reach {}; it is made again", system_->name())
              : fmt::format("{} has lost job {} before it began; it is submitted again",
                            system_->name(), array));
  }
  return completion;
}

void BatchQueue::notice_blocked(const Watched& watched, const JobReport& report, News& news) {
  const std::string why = report.reason.empty() ? report.word : report.reason;
  if (told_.insert(fmt::format("{} {}", watched.job.submission, why)).second)
    news.notices.push_back(
        fmt::format("{} job {} will not start by itself: {}", system_->name(), report.id, why));
}

void BatchQueue::plan_next(bool news) {
  if (!trouble_.empty())
    pause_s_ = std::min(longest_patience_s, std::max(soon_s, pause_s_ * 2));
  else if (news)
    pause_s_ = std::min(soon_s, settings_.interval_s);
  else
    pause_s_ = std::min(settings_.interval_s, std::max(soon_s, pause_s_ * 1.5));
  if (unsettled_)
    pause_s_ = std::min({pause_s_, settings_.grace_s, soon_s});
  static std::minstd_rand random{std::random_device()()};
  const double jitter = std::uniform_real_distribution<double>(0.9, 1.1)(random);
  next_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                             std::chrono::duration<double>(pause_s_ * jitter));
}

double BatchQueue::seconds_to_question() const {
  return std::max(0.0, std::chrono::duration<double>(next_ - Clock::now()).count());
}

}  // namespace bench::schedule
