#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/outcome.hpp>
#include <bench/engine/cancel.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/execute/job.hpp>
#include <bench/execute/sentinel.hpp>
#include <bench/inspect/run_view.hpp>
#include <bench/job/prepare.hpp>
#include <bench/platform/batch_system.hpp>
#include <bench/scheduler/step_jobs.hpp>
#include <bench/setup/run.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::engine {

using workspace::State;
using workspace::Workpackage;

namespace {

/// Of bench, or of a command that has submitted it.
bool has_job(const Workpackage& workpackage, const std::map<long long, std::string>& job_of) {
  const auto job = job_of.find(workpackage.id);
  return workpackage.state == State::submitted ||
         (workpackage.state == State::pending && job != job_of.end() && !job->second.empty());
}

/// As its sentinel says, which nobody may have looked at yet.
std::optional<execute::Completion> end_of(const execute::Job& attempt) {
  return attempt.is_batch() ? execute::completion_from_sentinel(attempt) : std::nullopt;
}

/// It may have, while the batch system was told to cancel it.
bool has_ended_well(const execute::Job& attempt) {
  const auto end = end_of(attempt);
  return end && end->success();
}

std::vector<execute::Job> values_of(std::map<long long, execute::Job>&& attempts) {
  std::vector<execute::Job> values;
  for (auto& [id, attempt] : attempts)
    values.push_back(std::move(attempt));
  return values;
}

std::string submitted_job_of(const setup::Run& run, const inspect::RunView& view,
                             const Workpackage& workpackage) {
  evaluate::Evaluator evaluator;
  const workspace::Parameters variables = view.internal_variables(workpackage);
  return scheduler::submitted_job({.run = run,
                                   .step = *run.benchmark.step(workpackage.step),
                                   .workpackage = workpackage,
                                   .variables = {variables.begin(), variables.end()},
                                   .evaluator = evaluator});
}

}  // namespace

Cancellation plan_cancellation(const setup::Run& run, const workspace::Workspace& workspace,
                               const std::set<std::string>& steps,
                               const std::set<long long>& workpackages) {
  std::map<long long, std::string> job_of;
  std::map<long long, std::string> uuid_of;
  for (const workspace::Attempt& attempt : workspace.unsettled_attempts()) {
    job_of[attempt.workpackage] = attempt.job_id;
    uuid_of[attempt.workpackage] = attempt.uuid;
  }
  /// A sentinel is read once: there may be thousands, on a network file system.
  const auto open_attempt = [&](const Workpackage& workpackage) -> std::optional<execute::Job> {
    execute::Job attempt = job::attempt_on_disk(run, workpackage, uuid_of[workpackage.id]);
    return end_of(attempt) ? std::nullopt : std::optional(std::move(attempt));
  };
  std::set<std::string> jobs;
  std::map<long long, execute::Job> attempts;
  std::set<long long> known;
  const inspect::RunView view(run, workspace);
  const std::vector<Workpackage>& all = view.all();
  for (const Workpackage& workpackage : all) {
    known.insert(workpackage.id);
    if (!workpackages.empty() && !workpackages.contains(workpackage.id))
      continue;
    if (!steps.empty() && !steps.contains(workpackage.step))
      continue;
    if (workpackage.state == State::pending)
      job_of[workpackage.id] = submitted_job_of(run, view, workpackage);
    const bool has_one = has_job(workpackage, job_of);
    if (auto attempt = has_one ? open_attempt(workpackage) : std::nullopt) {
      jobs.insert(job_of[workpackage.id]);
      attempts.emplace(workpackage.id, std::move(*attempt));
    } else if (!workpackages.empty()) {
      throw Error(fmt::format(
          "workpackage {} has no job in a batch system (state: {})", workpackage.id,
          has_one ? "ended, and not collected yet" : workspace::name_of(workpackage.state)));
    }
  }
  for (const long long id : workpackages)
    if (!known.contains(id))
      throw Error(fmt::format("run {} has no workpackage {}", run.directory.id, id));
  for (const Workpackage& workpackage : all)  // that were not named and share a job
    if (has_job(workpackage, job_of) && jobs.contains(job_of[workpackage.id]) &&
        !attempts.contains(workpackage.id))
      if (auto attempt = open_attempt(workpackage))
        attempts.emplace(workpackage.id, std::move(*attempt));
  std::map<long long, execute::Job> waiting;
  for (const Workpackage& workpackage : all)  // parents have smaller ids
    if (workpackage.state == State::submitted && !attempts.contains(workpackage.id) &&
        std::ranges::any_of(workpackage.parents, [&](long long parent) {
          return attempts.contains(parent) || waiting.contains(parent);
        }))
      if (auto attempt = open_attempt(workpackage)) {
        jobs.insert(job_of[workpackage.id]);
        waiting.emplace(workpackage.id, std::move(*attempt));
      }
  return {.jobs = {jobs.begin(), jobs.end()},
          .attempts = values_of(std::move(attempts)),
          .waiting = values_of(std::move(waiting))};
}

std::string cancel(const setup::Run& run, const Cancellation& cancellation) {
  return platform::batch_system_of(run.platform)->cancel(cancellation.jobs);
}

void store_cancellation(const setup::Run& run, const Cancellation& cancellation,
                        const std::string& reason, workspace::Workspace& workspace) {
  workspace::Events events;
  std::map<long long, std::string> gone;  ///< Why those that depend on it cannot run.
  const auto lose = [&](const Workpackage& workpackage, const char* how) {
    gone[workpackage.id] = fmt::format("workpackage {} ({}), which it depends on, was {}",
                                       workpackage.id, workpackage.step, how);
  };
  for (const execute::Job& attempt : cancellation.attempts) {
    if (has_ended_well(attempt))
      continue;
    const Workpackage workpackage = workspace.workpackage(attempt.workpackage);
    events.push_back(workspace::Ended{.workpackage = workpackage.id,
                                      .attempt = {.outcome = Outcome::cancelled, .reason = reason},
                                      .environment = {}});
    job::write_marker(run, workpackage, false, reason);
    lose(workpackage, "cancelled");
  }
  for (const execute::Job& attempt : cancellation.waiting) {
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

}  // namespace bench::engine
