#include "sequencer.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/host.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/environment.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

using machine::Completion;
using workspace::Event;
using workspace::Progress;
using workspace::State;
using workspace::Workpackage;

namespace {

bool is_retried(const model::Step& step, const Workpackage& workpackage, Outcome outcome) {
  return step.retry && workpackage.retries < step.retry->times &&
         std::ranges::find(step.retry->on, outcome) != step.retry->on.end();
}

Event done(const Situation& situation) {
  return workspace::Ended{.workpackage = situation.workpackage.id,
                          .attempt = situation.completion,
                          .environment = situation.step.exported ? situation.environment
                                                                 : workspace::EnvironmentChanges{}};
}

Event failed(long long workpackage, AttemptEnd attempt) {
  return workspace::Ended{
      .workpackage = workpackage, .attempt = std::move(attempt), .environment = {}};
}

}  // namespace

Event after_interruption(const Situation& situation) {
  const Completion& completion = situation.completion;
  const Workpackage& workpackage = situation.workpackage;
  if (completion.lost_in_queue && workpackage.times_lost >= machine::most_resubmissions) {
    AttemptEnd end = completion;
    end.outcome = Outcome::lost;
    end.reason += fmt::format("; it was submitted {} times", workpackage.times_lost + 1);
    return failed(workpackage.id, std::move(end));
  }
  return workspace::Interrupted{.workpackage = workpackage.id,
                                .reason = completion.reason,
                                .lost_in_queue = completion.lost_in_queue};
}

Event after_failure(const Situation& situation) {
  const long long id = situation.workpackage.id;
  AttemptEnd end = situation.completion;
  if (is_retried(situation.step, situation.workpackage, end.outcome))
    return workspace::Retried{.workpackage = id, .attempt = std::move(end)};
  return failed(id, std::move(end));
}

Event after_success(const Situation& situation, Progress progress) {
  const std::vector<model::Command>& commands = situation.step.commands;
  const auto advanced = [&](State to) {
    return workspace::Advanced{.workpackage = situation.workpackage.id,
                               .to = to,
                               .progress = progress,
                               .environment = situation.environment};
  };
  progress.prepared = true;
  for (;; ++progress.command) {
    if (progress.command >= static_cast<int>(commands.size())) {
      progress.command = 0;
      if (++progress.cycle >= situation.step.cycles)
        return done(situation);
    }
    if (commands.empty() || !commands[static_cast<std::size_t>(progress.command)].shared)
      return advanced(State::ready);
    if (situation.is_active(commands[static_cast<std::size_t>(progress.command)]))
      return advanced(State::waiting);
  }
}

std::optional<Event> after_watching(const Situation& situation, int command,
                                    const space::Watched& watched) {
  Progress progress = situation.workpackage.progress;
  switch (watched.state) {
    case space::Watched::State::failed: {
      AttemptEnd end = situation.completion;
      end.outcome = Outcome::failed;
      end.exit_code.reset();
      end.reason = fmt::format("error file {} exists", watched.file);
      return failed(situation.workpackage.id, std::move(end));
    }
    case space::Watched::State::broken:
      return done(situation);
    case space::Watched::State::waiting:
      if (situation.workpackage.state == State::waiting)
        return std::nullopt;
      progress.prepared = true;
      progress.command = command;
      return workspace::Advanced{.workpackage = situation.workpackage.id,
                                 .to = State::waiting,
                                 .progress = progress,
                                 .environment = situation.environment};
    case space::Watched::State::finished:
      break;
  }
  progress.command = command + 1;
  return after_success(situation, progress);
}

Event failed_for(long long workpackage, const std::string& reason, const std::string& host) {
  return failed(workpackage, {.reason = reason, .host = host});
}

using workspace::EnvironmentChanges;

namespace {

const model::Command& command_of(const model::Step& step, int index) {
  return step.commands[static_cast<std::size_t>(index)];
}

}  // namespace

Situation Sequencer::situation_of(const Completion& completion,
                                  EnvironmentChanges environment) const {
  const Workpackage& workpackage = store_.at(completion.workpackage);
  return {.step = store_.step_of(workpackage),
          .workpackage = workpackage,
          .completion = completion,
          .environment = std::move(environment),
          .is_active = [this, &workpackage](const model::Command& command) {
            return space::context_of(run_, store_.graph(), workpackage, evaluator_)
                ->holds(command.active, command.place);
          }};
}

void Sequencer::conclude(const Completion& completion) {
  if (completion.success())
    return conclude_success(completion);
  forget_environment(completion.workpackage);
  const Completion told = with_told_outcome(completion);
  const Situation situation = situation_of(told, {});
  store_.apply(told.outcome == Outcome::interrupted ? after_interruption(situation)
                                                    : after_failure(situation));
}

/// A program that says that it is out of memory is: not every system tells.
Completion Sequencer::with_told_outcome(Completion completion) const {
  const Workpackage& workpackage = store_.at(completion.workpackage);
  if (completion.outcome == Outcome::failed &&
      space::says_out_of_memory(
          *space::context_of(run_, store_.graph(), workpackage, evaluator_))) {
    completion.outcome = Outcome::out_of_memory;
    if (to_lower(completion.reason).find("out of memory") == std::string::npos)
      completion.reason.insert(0, "out of memory: ");
  }
  return completion;
}

void Sequencer::conclude_success(const Completion& completion) {
  const Workpackage& workpackage = store_.at(completion.workpackage);
  const model::Step& step = store_.step_of(workpackage);
  const space::ExecutionSegment segment =
      space::next_segment(run_.benchmark, step, workpackage.progress);
  const EnvironmentChanges environment =
      space::keeps_environment(step, segment, workpackage.progress) && !completion.superseded
          ? machine::changes_since_base(run_.directory.path / workpackage.directory,
                                        completion.environment)
          : EnvironmentChanges{};
  if (segment.shared) {
    conclude_shared(completion, environment);
  } else if (segment.end > segment.begin && !segment.script && !completion.superseded) {
    advance_past(segment.end - 1, completion, environment);
  } else {
    Progress progress = workpackage.progress;
    progress.command = segment.end;
    store_.apply(after_success(situation_of(completion, environment), progress));
  }
}

/// One workpackage has executed the command for all that wait.
void Sequencer::conclude_shared(const Completion& completion,
                                const EnvironmentChanges& environment) {
  const Workpackage& workpackage = store_.at(completion.workpackage);
  const Progress here = workpackage.progress;
  Progress next = here;
  ++next.command;
  for (const long long id : store_.members(store_.step_of(workpackage))) {
    const Workpackage& other = store_.at(id);
    if (other.state != State::waiting || other.progress != here)
      continue;
    Completion of_other = completion;
    of_other.workpackage = id;
    store_.apply(after_success(situation_of(of_other, store_.environment(id)), next));
  }
  store_.apply(after_success(situation_of(completion, environment), next));
}

void Sequencer::advance_past(int command, const Completion& completion,
                             const EnvironmentChanges& environment) {
  const Workpackage& workpackage = store_.at(completion.workpackage);
  const model::Command& one = command_of(store_.step_of(workpackage), command);
  space::Watched watched;
  if (space::watches(one))  // seldom; the variables of a workpackage take longer than all else here
    watched =
        space::check_files(one, *space::context_of(run_, store_.graph(), workpackage, evaluator_));
  if (const auto event = after_watching(situation_of(completion, environment), command, watched))
    store_.apply(*event);
}

void Sequencer::interrupt(long long id) {
  forget_environment(id);
  store_.apply(workspace::Interrupted{.workpackage = id, .reason = "bench was interrupted"});
}

void Sequencer::forget_environment(long long id) {
  machine::forget_environment(run_.directory.path / store_.at(id).directory);
}

void Sequencer::check_watch_files(long long id) {
  const Workpackage& workpackage = store_.at(id);
  if (workpackage.state != State::waiting ||
      space::waits_at_barrier(store_.step_of(workpackage), workpackage))
    return;
  Completion completion;
  completion.workpackage = id;
  completion.outcome = Outcome::done;
  completion.host = host_name();
  const EnvironmentChanges environment = store_.environment(id);
  advance_past(workpackage.progress.command, completion, environment);
}

void Sequencer::fail(long long id, const std::string& reason) {
  store_.apply(failed_for(id, reason, host_name()));
}

bool Sequencer::is_complete(const model::Step& step) const {
  return std::ranges::all_of(step.depend, [&](const std::string& name) {
    const model::Step& parent = *run_.benchmark.step(name);
    const workspace::StepCounts& counts = store_.counts_of(parent);
    return counts.ended() == counts.all() && !store_.has_unexpanded(parent) && is_complete(parent);
  });
}

std::string Sequencer::barrier_failure(const model::Step& step) const {
  if (store_.counts_of(step).failed > 0)
    return fmt::format("a workpackage of step {} has failed", step.name);
  for (const std::string& name : step.depend)
    if (std::string found = barrier_failure(*run_.benchmark.step(name)); !found.empty())
      return found;
  return "";
}

void Sequencer::pass_barrier(const model::Step& step) {
  const workspace::StepCounts& counts = store_.counts_of(step);
  if (counts.waiting == 0 || counts.ready + counts.running + counts.submitted > 0 ||
      !is_complete(step))
    return;
  std::vector<long long> waiting;
  for (const long long id : store_.members(step))
    if (space::waits_at_barrier(step, store_.at(id)))
      waiting.push_back(id);
  if (waiting.empty() || counts.waiting > static_cast<long long>(waiting.size()))
    return;
  if (const std::string reason = barrier_failure(step); !reason.empty()) {
    for (const long long id : waiting)
      fail(id, fmt::format("its shared command cannot run: {}", reason));
    return;
  }
  const Workpackage& last = store_.at(waiting.back());
  store_.apply(workspace::Advanced{.workpackage = last.id,
                                   .to = State::ready,
                                   .progress = last.progress,
                                   .environment = store_.environment(last.id)});
}

void Sequencer::pass_barriers() {
  for (const model::Step& step : run_.benchmark.steps)
    pass_barrier(step);
}

}  // namespace bench::run
