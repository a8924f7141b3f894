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
  Cancellation cancellation{.jobs = {jobs.begin(), jobs.end()}, .attempts = {}};
  for (auto& [id, attempt] : attempts)
    cancellation.attempts.push_back(std::move(attempt));
  return cancellation;
}

void cancel(const setup::Run& run, const Cancellation& cancellation) {
  const auto system = platform::batch_system_of(run.platform);
  if (const std::string said = system->cancel(cancellation.jobs); !said.empty())
    throw Error(said, "nothing was recorded; run `bench cancel` again");
}

void store_cancellation(const Cancellation& cancellation, workspace::Workspace& workspace) {
  workspace::Events events;
  for (const execute::Job& attempt : cancellation.attempts) {
    // While the batch system was told.
    if (const auto end = end_of(attempt); end && end->success())
      continue;
    events.push_back(workspace::Ended{
        .workpackage = attempt.workpackage,
        .attempt = {.outcome = Outcome::cancelled, .reason = "cancelled by `bench cancel`"},
        .environment = {}});
  }
  workspace.replay(events);
}

}  // namespace bench::engine
