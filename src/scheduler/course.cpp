#include "course.hpp"

#include <algorithm>

#include <fmt/core.h>

#include <bench/base/host.hpp>
#include <bench/execute/batch.hpp>
#include <bench/job/environment.hpp>
#include <bench/job/part.hpp>
#include <bench/job/prepare.hpp>

namespace bench::scheduler {

using execute::Completion;
using workspace::EnvironmentChanges;
using workspace::Progress;
using workspace::State;
using workspace::Workpackage;

namespace {

bool is_retried(const model::Step& step, const Workpackage& workpackage, Outcome outcome) {
  return step.retry && workpackage.retries < step.retry->times &&
         std::ranges::find(step.retry->on, outcome) != step.retry->on.end();
}

Completion given_up(Completion completion) {
  completion.outcome = Outcome::lost;
  completion.reason += fmt::format("; it was submitted {} times", execute::most_resubmissions + 1);
  return completion;
}

}  // namespace

Course::Course(const setup::Run& run, const workspace::Workspace& workspace, workflow::Graph& graph,
               const Queue& queue, Ledger& ledger, evaluate::Evaluator& evaluator)
    : run_(run),
      workspace_(workspace),
      graph_(graph),
      queue_(queue),
      ledger_(ledger),
      evaluator_(evaluator) {}

void Course::conclude(Workpackage& workpackage, const Completion& completion) {
  const model::Step& step = *run_.benchmark.step(workpackage.step);
  // What an attempt has left that was cut off is not for the next one.
  if (!completion.success())
    job::forget_environment(run_.directory.path / workpackage.directory);
  if (completion.outcome == Outcome::interrupted) {
    if (completion.held_up)
      ledger_.leave(completion.reason);
    else if (completion.reason.ends_with(execute::never_began) &&
             times_lost(workpackage.id) > execute::most_resubmissions)
      ledger_.end(workpackage, given_up(completion));
    else
      ledger_.come_back(workpackage, completion.reason);
    return;
  }
  const job::Part part = job::part_at(run_.benchmark, step, workpackage.progress);
  // Nothing of what is kept for it stays on disk, however the attempt has ended.
  const EnvironmentChanges environment =
      job::keeps_environment(step, part, workpackage.progress) && !completion.superseded
          ? job::changes_since_base(run_.directory.path / workpackage.directory,
                                    completion.environment)
          : EnvironmentChanges{};
  if (!completion.success()) {
    if (is_retried(step, workpackage, completion.outcome))
      ledger_.repeat(workpackage, completion);
    else
      ledger_.end(workpackage, completion);
    return;
  }
  if (part.shared) {
    conclude_shared(workpackage, completion, environment);
  } else if (part.end > part.begin && !part.script && !completion.superseded) {
    go_by(step.commands[static_cast<std::size_t>(part.end - 1)], workpackage, completion,
          environment);
  } else {
    Progress progress = workpackage.progress;
    progress.prepared = true;
    progress.command = part.end;
    arrive(workpackage, progress, completion, environment);
  }
}

void Course::interrupt(Workpackage& workpackage) {
  job::forget_environment(run_.directory.path / workpackage.directory);
  ledger_.come_back(workpackage, "bench was interrupted");
}

/// How often a batch system has lost the workpackage before it began, this time included.
int Course::times_lost(long long id) {
  if (!lost_) {
    lost_.emplace();
    for (const workspace::Attempt& attempt : workspace_.submitted_attempts())
      if (attempt.reason.ends_with(execute::never_began))
        ++(*lost_)[attempt.workpackage];
  }
  return ++(*lost_)[id];
}

/// The last command of a part was `command`: what it watches decides.
void Course::go_by(const model::Command& command, Workpackage& workpackage,
                   const Completion& completion, const EnvironmentChanges& environment) {
  const model::Step& step = *run_.benchmark.step(workpackage.step);
  Progress progress = workpackage.progress;
  const int index = static_cast<int>(&command - step.commands.data());
  const job::Watched watched =
      job::look(command, *job::context_of(run_, graph_, workpackage, evaluator_));
  switch (watched.state) {
    case job::Watched::State::failed: {
      Completion failure = completion;
      failure.outcome = Outcome::failed;
      failure.exit_code.reset();
      failure.reason = fmt::format("error file {} exists", watched.file);
      ledger_.end(workpackage, failure);
      break;
    }
    case job::Watched::State::broken:
      finish(workpackage, completion, environment);
      break;
    case job::Watched::State::waiting:
      progress.prepared = true;
      progress.command = index;
      if (workpackage.state != State::pending)
        ledger_.advance(workpackage, State::pending, progress, environment);
      break;
    case job::Watched::State::finished:
      progress.prepared = true;
      progress.command = index + 1;
      arrive(workpackage, progress, completion, environment);
      break;
  }
}

void Course::look_again(Workpackage& workpackage) {
  const model::Step& step = *run_.benchmark.step(workpackage.step);
  if (workpackage.state != State::pending || waits_at_barrier(workpackage))
    return;
  Completion completion;
  completion.workpackage = workpackage.id;
  completion.outcome = Outcome::done;
  completion.host = host_name();
  go_by(step.commands[static_cast<std::size_t>(workpackage.progress.command)], workpackage,
        completion, environment_of(workpackage.id));
}

void Course::give_up(Workpackage& workpackage, const std::string& reason) {
  Completion failure;
  failure.workpackage = workpackage.id;
  failure.reason = reason;
  failure.host = host_name();
  ledger_.end(workpackage, failure);
}

void Course::arrive(Workpackage& workpackage, Progress progress, const Completion& completion,
                    const EnvironmentChanges& environment) {
  const model::Step& step = *run_.benchmark.step(workpackage.step);
  for (;;) {
    if (progress.command >= static_cast<int>(step.commands.size())) {
      progress.command = 0;
      if (++progress.cycle >= step.cycles) {
        finish(workpackage, completion, environment);
        return;
      }
    }
    const bool none = step.commands.empty();
    const auto* command =
        none ? nullptr : &step.commands[static_cast<std::size_t>(progress.command)];
    if (!command || !command->shared) {
      ledger_.advance(workpackage, State::ready, progress, environment);
      return;
    }
    if (job::context_of(run_, graph_, workpackage, evaluator_)
            ->holds(command->active, command->place)) {
      ledger_.advance(workpackage, State::pending, progress, environment);
      return;
    }
    ++progress.command;
  }
}

void Course::finish(Workpackage& workpackage, const Completion& completion,
                    const EnvironmentChanges& environment) {
  const bool exported = run_.benchmark.step(workpackage.step)->exported;
  ledger_.end(workpackage, completion, exported ? environment : EnvironmentChanges{});
}

/// One workpackage has executed it for all that wait.
void Course::conclude_shared(Workpackage& workpackage, const Completion& completion,
                             const EnvironmentChanges& environment) {
  const Progress here = workpackage.progress;
  Progress next = here;
  ++next.command;
  for (const long long id : queue_.members(workpackage.step)) {
    Workpackage& other = graph_.at(id);
    if (other.state != State::pending || other.progress != here)
      continue;
    Completion of_other = completion;
    of_other.workpackage = id;
    arrive(other, next, of_other, environment_of(id));
  }
  arrive(workpackage, next, completion, environment);
}

EnvironmentChanges Course::environment_of(long long id) const {
  const EnvironmentChanges* const unwritten = ledger_.unwritten_environment(id);
  return unwritten ? *unwritten : workspace_.environment(id);
}

bool Course::waits_at_barrier(const Workpackage& workpackage) const {
  const model::Step& step = *run_.benchmark.step(workpackage.step);
  return workpackage.state == State::pending &&
         step.commands[static_cast<std::size_t>(workpackage.progress.command)].shared;
}

bool Course::is_complete(const model::Step& step) const {
  return std::all_of(step.depend.begin(), step.depend.end(), [&](const std::string& name) {
    const workspace::StepCounts& counts = ledger_.counts_of(name);
    return counts.done + counts.failed == counts.all() && !queue_.has_unreleased(name) &&
           is_complete(*run_.benchmark.step(name));
  });
}

std::string Course::obstacle(const model::Step& step) const {
  if (ledger_.counts_of(step.name).failed > 0)
    return fmt::format("a workpackage of step {} has failed", step.name);
  for (const std::string& name : step.depend)
    if (std::string found = obstacle(*run_.benchmark.step(name)); !found.empty())
      return found;
  return "";
}

void Course::pass_barrier(const model::Step& step) {
  const workspace::StepCounts& counts = ledger_.counts_of(step.name);
  if (counts.pending == 0 || counts.ready + counts.running + counts.submitted > 0 ||
      !is_complete(step))
    return;
  std::vector<long long> waiting;
  for (const long long id : queue_.members(step.name))
    if (waits_at_barrier(graph_.at(id)))
      waiting.push_back(id);
  if (waiting.empty() || counts.pending > static_cast<long long>(waiting.size()))
    return;
  if (const std::string reason = obstacle(step); !reason.empty()) {
    for (const long long id : waiting)
      give_up(graph_.at(id), fmt::format("its shared command cannot run: {}", reason));
    return;
  }
  Workpackage& last = graph_.at(waiting.back());
  ledger_.advance(last, State::ready, last.progress, environment_of(last.id));
}

void Course::pass_barriers() {
  for (const model::Step& step : run_.benchmark.steps)
    pass_barrier(step);
}

EnvironmentChanges Course::inherited_by(const Workpackage& workpackage) const {
  if (workpackage.progress != Progress{})
    return environment_of(workpackage.id);
  EnvironmentChanges inherited;
  for (const long long id : workpackage.parents) {
    if (!run_.benchmark.step(graph_.at(id).step)->exported)
      continue;
    // As in JUBE, what a parent has unset stays set in its children.
    for (auto& change : workspace_.environment(id))
      if (change.second)
        inherited.push_back(std::move(change));
  }
  return inherited;
}

}  // namespace bench::scheduler
