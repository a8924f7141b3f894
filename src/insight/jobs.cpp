#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/outcome.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/insight/jobs.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/machine/platform.hpp>
#include <bench/machine/sentinel.hpp>
#include <bench/machine/systems.hpp>
#include <bench/run/step_jobs.hpp>
#include <bench/space/job_script.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::insight {
namespace {

using machine::JobReport;
using workspace::State;
using workspace::Workpackage;

std::string report_text(const JobReport& report) {
  std::string text = report.word;
  if (!report.reason.empty())
    text += fmt::format(" ({})", report.reason);
  if (!report.host.empty())
    text += " on " + report.host;
  if (report.state == JobReport::State::blocked)
    text += "; it will not start without intervention";
  return text;
}

/// Why the batch system of a run cannot be asked; empty: it can.
std::string why_not_asked(const space::Run& run) {
  const std::string name = space::platform_source(run);
  if (!machine::is_platform_file(name) &&
      !std::ranges::binary_search(machine::platform_names(), name))
    return fmt::format("the batch system was not asked: unknown platform {}", name);
  return "";
}

space::Run with_platform(space::Run run) {
  run.platform = space::platform_of(run);
  return run;
}

/// @param run with its platform, whose batch system may keep no comments: then names tell
machine::BatchJob job_of(const space::Run& run, const std::string& step,
                         const workspace::Attempt& attempt) {
  return {.job = {},
          .submission = attempt.submission,
          .name = space::job_name(run, step, attempt),
          .id = attempt.job_id,
          .task = attempt.task,
          .messages = {}};
}

/// @param find the job among those that were told of
template <class Find>
JobNews news_of(machine::BatchSystem& system, const std::string& id, Find find) {
  for (const bool accounting : {false, true}) {
    const machine::QueryResult answer =
        accounting ? system.query_accounting({id}) : system.ask({id});
    if (!answer.failure.empty())
      return {.text = answer.failure};
    if (const std::optional<JobReport> report = find(answer.jobs))
      return {.text = fmt::format("{} says {}", system.name(), report_text(*report)),
              .may_end = report->state == JobReport::State::ended};
  }
  return {.text = fmt::format("{} no longer knows the job", system.name()), .may_end = true};
}

/// The jobs of the workpackages that bench has handed over and that have not ended. Where nobody
/// has recorded the answer to a submission, the batch system tells the id; it is empty if that
/// does not know the job.
std::map<long long, std::string> jobs_handed_over(const space::Run& run, const RunView& view) {
  std::map<long long, std::string> job_of;
  std::vector<machine::BatchJob> unrecorded;
  for (const Workpackage& workpackage : view.all()) {
    const workspace::Attempt* attempt = view.attempt(workpackage.id);
    if (!attempt || !attempt->outcome.empty() || attempt->submission.empty())
      continue;
    job_of[workpackage.id] = attempt->job_id;
    if (attempt->job_id.empty())
      unrecorded.push_back({.job = {.workpackage = workpackage.id},
                            .submission = attempt->submission,
                            .name = space::job_name(run, workpackage.step, *attempt),
                            .id = {},
                            .task = attempt->task,
                            .messages = {}});
  }
  if (unrecorded.empty())
    return job_of;
  const machine::KnownJobs known(machine::batch_system_of(run.platform)->ask_for_all().jobs);
  for (const machine::BatchJob& job : unrecorded)
    if (const machine::JobReport* report = known.find(job))
      job_of[job.job.workpackage] = report->id;
  return job_of;
}

/// As its sentinel says, which nobody may have looked at yet.
std::optional<machine::Completion> end_of(const machine::Job& attempt) {
  return attempt.is_batch() ? machine::completion_from_sentinel(attempt) : std::nullopt;
}

/// None if its sentinel says that it has ended. That is read once: there may be thousands, on a
/// network file system.
std::optional<machine::Job> open_attempt(const space::Run& run, const RunView& view,
                                         const Workpackage& workpackage) {
  const workspace::Attempt* latest = view.attempt(workpackage.id);
  machine::Job attempt = space::attempt_on_disk(run, workpackage, latest ? latest->uuid : "");
  return end_of(attempt) ? std::nullopt : std::optional(std::move(attempt));
}

/// It may have, while the batch system was told to cancel it.
bool has_ended_well(const machine::Job& attempt) {
  const auto end = end_of(attempt);
  return end && end->success();
}

std::vector<machine::Job> values_of(std::map<long long, machine::Job>&& attempts) {
  std::vector<machine::Job> values;
  for (auto& [id, attempt] : attempts)
    values.push_back(std::move(attempt));
  return values;
}

std::vector<std::string> submitted_jobs_of(const space::Run& run, const RunView& view,
                                           const Workpackage& workpackage) {
  evaluate::Evaluator evaluator;
  const workspace::Parameters variables = view.internal_variables(workpackage);
  return run::submitted_jobs({.run = run,
                              .step = *run.benchmark.step(workpackage.step),
                              .workpackage = workpackage,
                              .variables = {variables.begin(), variables.end()},
                              .evaluator = evaluator});
}

}  // namespace

JobNews ask_about(const space::Run& run, const std::string& step,
                  const workspace::Attempt& attempt) {
  if (std::string reason = why_not_asked(run); !reason.empty())
    return {.text = std::move(reason)};
  const space::Run whole = with_platform(run);
  const machine::BatchJob job = job_of(whole, step, attempt);
  return news_of(*machine::batch_system_of(whole.platform), attempt.job_id,
                 [&](const std::vector<JobReport>& jobs) {
                   const machine::KnownJobs known(jobs);
                   const JobReport* report = known.find(job);
                   return report ? std::optional(*report) : std::nullopt;
                 });
}

JobNews ask_about_job(const space::Run& run, const std::string& id) {
  if (std::string reason = why_not_asked(run); !reason.empty())
    return {.text = std::move(reason)};
  const auto system = machine::batch_system_of_commands(space::platform_of(run));
  return news_of(*system, id, [&](const std::vector<JobReport>& jobs) {
    // Of an array the task that has not ended yet, if there is one.
    const auto is_of_job = [&](const JobReport& report) {
      return report.id == id || machine::array_of(report.id) == id;
    };
    auto found = std::ranges::find_if(jobs, [&](const JobReport& report) {
      return is_of_job(report) && report.state != JobReport::State::ended;
    });
    if (found == jobs.end())
      found = std::ranges::find_if(jobs, is_of_job);
    return found == jobs.end() ? std::nullopt : std::optional(*found);
  });
}

JobsUnderWay jobs_under_way(const space::Run& run, const workspace::Workspace& workspace) {
  std::vector<workspace::Attempt> attempts = workspace.unsettled_attempts();
  std::erase_if(attempts, [](const workspace::Attempt& attempt) {
    return attempt.submission.empty() || attempt.job_id.empty();
  });
  if (attempts.empty())
    return {};
  std::string failure = workspace::is_own(run.directory.path)
                            ? why_not_asked(run)
                            : "the batch system was not asked: the run belongs to another user";
  if (!failure.empty())
    return {.count = attempts.size(), .failure = std::move(failure)};
  const space::Run whole = with_platform(run);
  std::vector<machine::BatchJob> jobs;
  std::vector<std::string> ids;
  for (const workspace::Attempt& attempt : attempts) {
    jobs.push_back(job_of(whole, workspace.workpackage(attempt.workpackage).step, attempt));
    ids.push_back(attempt.job_id);
  }
  const machine::QueryResult answer = machine::batch_system_of(whole.platform)->ask(ids);
  if (!answer.failure.empty())
    return {.count = jobs.size(), .failure = answer.failure};
  const machine::KnownJobs known(answer.jobs);
  const auto is_under_way = [&](const machine::BatchJob& job) {
    const JobReport* report = known.find(job);
    return report && report->state != JobReport::State::ended;
  };
  return {.count = static_cast<std::size_t>(std::ranges::count_if(jobs, is_under_way))};
}

Cancellation plan_cancellation(const space::Run& run, const workspace::Workspace& workspace,
                               const std::set<std::string>& steps,
                               const std::set<long long>& workpackages) {
  const RunView view(run, workspace);
  const std::vector<Workpackage>& all = view.all();
  std::map<long long, std::string> job_of = jobs_handed_over(run, view);
  Cancellation plan;
  std::set<std::string> jobs;
  std::set<std::string> own;
  std::map<long long, machine::Job> attempts;
  int unanswered = 0;
  for (const Workpackage& workpackage : all) {
    if (!workpackages.empty() && !workpackages.contains(workpackage.id))
      continue;
    if (!steps.empty() && !steps.contains(workpackage.step))
      continue;
    if (workpackage.state == State::waiting)
      if (const auto submitted = submitted_jobs_of(run, view, workpackage); !submitted.empty()) {
        if (auto attempt = open_attempt(run, view, workpackage)) {
          own.insert(submitted.begin(), submitted.end());
          attempts.emplace(workpackage.id, std::move(*attempt));
        }
        continue;
      }
    const auto job = job_of.find(workpackage.id);
    if (auto attempt = job == job_of.end() ? std::nullopt : open_attempt(run, view, workpackage)) {
      if (job->second.empty()) {
        ++unanswered;
        continue;
      }
      jobs.insert(job->second);
      attempts.emplace(workpackage.id, std::move(*attempt));
    } else if (!workpackages.empty()) {
      throw Error(
          Id::wrong_state,
          fmt::format("workpackage {} has no job in a batch system (state: {})", workpackage.id,
                      job == job_of.end() ? workspace::name_of(workpackage.state)
                                          : "ended, and not collected yet"));
    }
  }
  for (const long long id : workpackages)
    if (std::ranges::find(all, id, &Workpackage::id) == all.end())
      throw Error(Id::unknown_run,
                  fmt::format("run {} has no workpackage {}", run.directory.id, id));
  for (const Workpackage& workpackage : all)  // that were not named and share a job
    if (const auto job = job_of.find(workpackage.id);
        job != job_of.end() && jobs.contains(job->second) && !attempts.contains(workpackage.id))
      if (auto attempt = open_attempt(run, view, workpackage))
        attempts.emplace(workpackage.id, std::move(*attempt));
  std::map<long long, machine::Job> waiting;
  for (const Workpackage& workpackage : all)  // parents have smaller ids
    if (workpackage.state == State::submitted && !attempts.contains(workpackage.id) &&
        std::ranges::any_of(workpackage.parents, [&](long long parent) {
          return attempts.contains(parent) || waiting.contains(parent);
        }))
      if (auto attempt = open_attempt(run, view, workpackage)) {
        jobs.insert(job_of[workpackage.id]);
        waiting.emplace(workpackage.id, std::move(*attempt));
      }
  if (unanswered > 0)
    plan.unanswered = fmt::format(
        "no job is known of {} workpackage{} of run {} whose submission was not answered",
        unanswered, unanswered == 1 ? "" : "s", run.directory.id);
  plan.jobs = {jobs.begin(), jobs.end()};
  plan.own = {own.begin(), own.end()};
  plan.attempts = values_of(std::move(attempts));
  plan.waiting = values_of(std::move(waiting));
  return plan;
}

std::string cancel(const space::Run& run, const Cancellation& cancellation) {
  for (const machine::Job& attempt : cancellation.attempts)
    if (attempt.is_batch())
      machine::note_cancellation(attempt);
  std::string said = machine::batch_system_of(run.platform)->cancel(cancellation.jobs);
  if (cancellation.own.empty() || !said.empty())
    return said;
  return machine::batch_system_of_commands(run.platform)->cancel(cancellation.own);
}

void store_cancellation(const space::Run& run, const Cancellation& cancellation,
                        const std::string& reason, workspace::Workspace& workspace) {
  workspace::Events events;
  std::map<long long, std::string> gone;  ///< Why those that depend on it cannot run.
  const auto lose = [&](const Workpackage& workpackage, const char* how) {
    gone[workpackage.id] = fmt::format("workpackage {} ({}), which it depends on, was {}",
                                       workpackage.id, workpackage.step, how);
  };
  for (const machine::Job& attempt : cancellation.attempts) {
    if (has_ended_well(attempt))
      continue;
    const Workpackage workpackage = workspace.workpackage(attempt.workpackage);
    events.push_back(workspace::Ended{.workpackage = workpackage.id,
                                      .attempt = {.outcome = Outcome::cancelled, .reason = reason},
                                      .environment = {}});
    space::write_marker(run, workpackage, false, reason);
    lose(workpackage, "cancelled");
  }
  for (const machine::Job& attempt : cancellation.waiting) {
    if (has_ended_well(attempt))
      continue;
    const Workpackage workpackage = workspace.workpackage(attempt.workpackage);
    events.push_back(workspace::Interrupted{.workpackage = workpackage.id, .reason = reason});
    const auto parent =
        std::ranges::find_if(workpackage.parents, [&](long long id) { return gone.contains(id); });
    if (parent == workpackage.parents.end())  // it has ended well meanwhile: submitted again
      continue;
    events.push_back(workspace::Skipped{.workpackage = workpackage.id, .reason = gone.at(*parent)});
    lose(workpackage, "skipped");
  }
  workspace.replay(events);
}

}  // namespace bench::insight
