#include "sequencing.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/outcome.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::scheduler {

using execute::Completion;
using workspace::AttemptEnd;
using workspace::Event;
using workspace::Progress;
using workspace::State;
using workspace::Workpackage;

namespace {

AttemptEnd end_of(const Completion& completion) {
  return {.outcome = completion.outcome,
          .exit_code = completion.exit_code,
          .reason = completion.reason,
          .host = completion.host,
          .started_unix_s = completion.started_unix_s,
          .ended_unix_s = completion.ended_unix_s};
}

bool is_retried(const model::Step& step, const Workpackage& workpackage, Outcome outcome) {
  return step.retry && workpackage.retries < step.retry->times &&
         std::ranges::find(step.retry->on, outcome) != step.retry->on.end();
}

Event done(const Situation& situation) {
  return workspace::Ended{.workpackage = situation.workpackage.id,
                          .attempt = end_of(situation.completion),
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
  if (completion.lost_in_queue && workpackage.times_lost >= batch::most_resubmissions) {
    AttemptEnd end = end_of(completion);
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
  AttemptEnd end = end_of(situation.completion);
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
                                    const job::Watched& watched) {
  Progress progress = situation.workpackage.progress;
  switch (watched.state) {
    case job::Watched::State::failed: {
      AttemptEnd end = end_of(situation.completion);
      end.outcome = Outcome::failed;
      end.exit_code.reset();
      end.reason = fmt::format("error file {} exists", watched.file);
      return failed(situation.workpackage.id, std::move(end));
    }
    case job::Watched::State::broken:
      return done(situation);
    case job::Watched::State::waiting:
      if (situation.workpackage.state == State::waiting)
        return std::nullopt;
      progress.prepared = true;
      progress.command = command;
      return workspace::Advanced{.workpackage = situation.workpackage.id,
                                 .to = State::waiting,
                                 .progress = progress,
                                 .environment = situation.environment};
    case job::Watched::State::finished:
      break;
  }
  progress.command = command + 1;
  return after_success(situation, progress);
}

Event failed_for(long long workpackage, const std::string& reason, const std::string& host) {
  return failed(workpackage, {.reason = reason, .host = host});
}

}  // namespace bench::scheduler
