#include "lost_attempts.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/core.h>

#include <bench/base/outage.hpp>
#include <bench/base/outcome.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/sentinel.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/observer.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::scheduler {

namespace {

/// Advances a workpackage past its next segment, as if that had succeeded.
/// @returns whether another part follows
bool pass(const model::Benchmark& benchmark, const model::Step& step,
          workspace::Progress& progress) {
  progress.command = job::next_segment(benchmark, step, progress).end;
  progress.prepared = true;
  if (progress.command < static_cast<int>(step.commands.size()))
    return true;
  progress.command = 0;
  return ++progress.cycle < step.cycles;
}

/// Takes the progress of a workpackage to the part that this attempt has executed: the one that
/// comes next, or one behind it.
/// @returns whether there is one
bool go_to(const setup::Run& run, const std::string& attempt, workspace::Workpackage& workpackage) {
  const model::Step& step = *run.benchmark.step(workpackage.step);
  do {
    if (attempt.ends_with(job::segment_digits(workpackage)))
      return true;
  } while (pass(run.benchmark, step, workpackage.progress));
  return false;
}

}  // namespace

LostAttempts::LostAttempts(const setup::Run& run, const workspace::Workspace& workspace,
                           Observer& observer)
    : run_(run), observer_(observer), known_(workspace.attempts_of_unfinished()) {
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(run.directory.path, absent))
    directories_.insert(entry.path().filename().string());
}

std::optional<execute::Completion> LostAttempts::find(const workspace::Workpackage& workpackage,
                                                      const std::string& uuid) {
  if (!directories_.contains(workpackage.directory))
    return std::nullopt;
  known_.insert(uuid);
  const auto sentinel =
      execute::read_sentinel(job::attempt_on_disk(run_, workpackage, "").sentinel);
  if (!sentinel || known_.contains(sentinel->attempt))
    return std::nullopt;
  workspace::Workpackage then = workpackage;
  if (!go_to(run_, sentinel->attempt, then))
    return std::nullopt;
  if (!sentinel->exit_code)
    throw MachineError(
        fmt::format("workpackage {} was begun on {} by an attempt that the database has lost, and "
                    "may run still",
                    workpackage.id, sentinel->host));
  if (then.progress != workpackage.progress) {
    execute::Completion passed;
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
  return execute::completion_from_sentinel(
      job::attempt_on_disk(run_, workpackage, sentinel->attempt));
}

}  // namespace bench::scheduler
