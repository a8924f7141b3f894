#include "recovery.hpp"

#include "admission.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/host.hpp>
#include <bench/base/outage.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/time.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/allocation.hpp>
#include <bench/machine/environment.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/machine/local.hpp>
#include <bench/machine/sentinel.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/observer.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/job_script.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/render.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

namespace {

/// Advances a workpackage past its next segment, as if that had succeeded.
/// @returns whether another part follows
bool pass(const model::Benchmark& benchmark, const model::Step& step,
          workspace::Progress& progress) {
  progress.command = space::next_segment(benchmark, step, progress).end;
  progress.prepared = true;
  if (progress.command < static_cast<int>(step.commands.size()))
    return true;
  progress.command = 0;
  return ++progress.cycle < step.cycles;
}

/// Takes the progress of a workpackage to the part that this attempt has executed: the one that
/// comes next, or one behind it.
/// @returns whether there is one
bool go_to(const space::Run& run, const std::string& attempt, workspace::Workpackage& workpackage) {
  const model::Step& step = *run.benchmark.step(workpackage.step);
  do {
    if (attempt.ends_with(space::segment_digits(workpackage)))
      return true;
  } while (pass(run.benchmark, step, workpackage.progress));
  return false;
}

}  // namespace

LostAttempts::LostAttempts(const space::Run& run, const workspace::Workspace& workspace,
                           Observer& observer)
    : run_(run), observer_(observer), known_(workspace.attempts_of_unfinished()) {
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(run.directory.path, absent))
    directories_.insert(entry.path().filename().string());
}

std::optional<machine::Completion> LostAttempts::find(const workspace::Workpackage& workpackage,
                                                      const std::string& uuid) {
  if (!directories_.contains(workpackage.directory))
    return std::nullopt;
  known_.insert(uuid);
  const auto sentinel =
      machine::read_sentinel(space::attempt_on_disk(run_, workpackage, "").sentinel);
  if (!sentinel || known_.contains(sentinel->attempt))
    return std::nullopt;
  workspace::Workpackage then = workpackage;
  if (!go_to(run_, sentinel->attempt, then))
    return std::nullopt;
  if (!sentinel->exit_code)
    throw MachineError(
        Id::system_error,
        fmt::format("workpackage {} was begun on {} by an attempt that the database has lost, and "
                    "may run still",
                    workpackage.id, sentinel->host));
  if (then.progress != workpackage.progress) {
    machine::Completion passed;
    passed.workpackage = workpackage.id;
    passed.outcome = Outcome::done;
    passed.host = sentinel->host;
    passed.superseded = true;
    return passed;
  }
  known_.insert(sentinel->attempt);
  observer_.notice(fmt::format(
      "workpackage {} has ended, but the database has no record of it; its sentinel says how",
      workpackage.id));
  return machine::completion_from_sentinel(
      space::attempt_on_disk(run_, workpackage, sentinel->attempt));
}

using machine::Completion;
using workspace::Attempt;
using workspace::State;
using workspace::Workpackage;

/// Its stderr, where its commands run, may say why it ended.
machine::Job Recovery::job_of(const Attempt& attempt) const {
  const Workpackage& workpackage = store_.at(attempt.workpackage);
  machine::Job job = space::attempt_on_disk(run_, workpackage, attempt.uuid);
  if (!store_.step_of(workpackage).work_dir.empty())
    job.work_directory =
        store_.graph().variables_of(workpackage, workpackage.progress.cycle).at("jube_wp_abspath");
  return job;
}

std::vector<Completion> Recovery::recover_processes(machine::LocalBackend& local,
                                                    evaluate::Evaluator& evaluator) {
  std::set<std::string> uuids;
  std::vector<Attempt> left;
  for (const Attempt& attempt : attempts_)
    if (const Workpackage& workpackage = store_.at(attempt.workpackage);
        workpackage.state == State::running && !space::is_scheduled(run_, workpackage)) {
      left.push_back(attempt);
      uuids.insert(attempt.uuid);
    }
  const auto is_elsewhere = [](const Attempt& attempt) { return attempt.host != host_name(); };
  // What ran in an allocation that has ended runs nowhere.
  const std::string allocation = allocation_of(run_);
  const bool has_ended = !allocation.empty() && std::ranges::any_of(left, is_elsewhere) &&
                         machine::life_of(allocation) == machine::JobLife::gone;
  std::vector<Completion> ended;
  auto orphans = machine::find_orphans(uuids);
  for (const Attempt& attempt : left) {
    const Workpackage& workpackage = store_.at(attempt.workpackage);
    machine::Job job = job_of(attempt);
    if (auto told = machine::completion_from_sentinel(job)) {
      if (!job.keep_environment)
        machine::forget_environment(job.directory);
      ended.push_back(std::move(*told));
    } else if (is_elsewhere(attempt) && !has_ended) {
      left_elsewhere_.push_back(fmt::format(
          "workpackage {} was running on {} when its bench ended, and may run there still; "
          "continue this run there, or give the attempt up with `bench remove -w {}`",
          workpackage.id, attempt.host, workpackage.id));
    } else if (orphans.contains(attempt.uuid)) {
      observer_.notice(
          fmt::format("workpackage {} still runs, started by an earlier bench; waiting for it",
                      workpackage.id));
      job.timeout_s = space::timeout_of(
          *space::context_of(run_, store_.graph(), workpackage, evaluator),
          space::next_segment(run_.benchmark, store_.step_of(workpackage), workpackage.progress));
      job.at_once = store_.concurrent_beside(workpackage);
      local.adopt(std::move(job), orphans[attempt.uuid],
                  std::max(0.0, unix_time_now() - attempt.claimed_unix_s));
    } else {
      // Of a later attempt, which the database has lost, it is needed yet.
      if (const auto left_by = machine::read_sentinel(job.sentinel);
          !left_by || lost_.is_known(left_by->attempt))
        machine::forget_environment(job.directory);
      store_.apply(workspace::Interrupted{.workpackage = workpackage.id,
                                          .reason = "bench was killed, or could not go on"});
    }
  }
  return ended;
}

void Recovery::recover_jobs(machine::JobMonitor& batch) {
  std::set<std::string> unrecorded;
  for (const Attempt& attempt : attempts_)
    if (store_.at(attempt.workpackage).state == State::running && !attempt.submission.empty())
      unrecorded.insert(attempt.submission);
  // One that still hands a job over would do so behind our back.
  for (const auto& [uuid, pids] : machine::find_submitters(unrecorded))
    machine::end_processes(pids);
  for (const Attempt& attempt : attempts_) {
    const Workpackage& workpackage = store_.at(attempt.workpackage);
    const bool under_way =
        workpackage.state == State::running || workpackage.state == State::submitted;
    if (!under_way || !space::is_scheduled(run_, workpackage))
      continue;
    if (attempt.submission.empty()) {
      store_.apply(workspace::Interrupted{.workpackage = workpackage.id,
                                          .reason = "bench was killed before it submitted this"});
      continue;
    }
    batch.add({.job = job_of(attempt),
               .submission = attempt.submission,
               .name = space::job_name(run_, workpackage.step, attempt),
               .id = attempt.job_id,
               .task = attempt.task,
               .messages = space::messages_of(run_, attempt.submission)});
  }
}

}  // namespace bench::run
