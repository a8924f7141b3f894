#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/outcome.hpp>
#include <bench/engine/cancel.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/inspect/run_view.hpp>
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
  for (const workspace::Attempt& attempt : workspace.unsettled_attempts())
    job_of[attempt.workpackage] = attempt.job_id;
  std::set<std::string> jobs;
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
    if (has_job(workpackage, job_of))
      jobs.insert(job_of[workpackage.id]);
    else if (!workpackages.empty())
      throw Error(fmt::format("workpackage {} has no job in a batch system (state: {})",
                              workpackage.id, workspace::name_of(workpackage.state)));
  }
  for (const long long id : workpackages)
    if (!known.contains(id))
      throw Error(fmt::format("run {} has no workpackage {}", run.directory.id, id));
  Cancellation cancellation{.jobs = {jobs.begin(), jobs.end()}, .workpackages = {}};
  for (const Workpackage& workpackage : all)
    if (has_job(workpackage, job_of) && jobs.contains(job_of[workpackage.id]))
      cancellation.workpackages.push_back(workpackage.id);
  return cancellation;
}

void cancel(const setup::Run& run, const Cancellation& cancellation) {
  const auto system = platform::batch_system_of(run.platform);
  if (const std::string said = system->cancel(cancellation.jobs); !said.empty())
    throw Error(said, "nothing was recorded; run `bench cancel` again");
}

void store_cancellation(const Cancellation& cancellation, workspace::Workspace& workspace) {
  workspace::Events events;
  for (const long long id : cancellation.workpackages)
    events.push_back(workspace::Ended{
        .workpackage = id,
        .attempt = {.outcome = Outcome::cancelled, .reason = "cancelled by `bench cancel`"},
        .environment = {}});
  workspace.replay(events);
}

}  // namespace bench::engine
