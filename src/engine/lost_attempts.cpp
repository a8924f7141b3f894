#include "lost_attempts.hpp"

#include "part.hpp"
#include "prepare.hpp"

#include <filesystem>

#include <fmt/core.h>

#include <bench/base/outage.hpp>
#include <bench/schedule/sentinel.hpp>

namespace bench::engine {

LostAttempts::LostAttempts(const Run& run, const workspace::Workspace& workspace,
                           Observer& observer)
    : run_(run), workspace_(workspace), observer_(observer) {
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(run.directory.path, absent))
    directories_.insert(entry.path().filename().string());
}

std::optional<schedule::Completion> LostAttempts::find(
    const workspace::Workpackage& workpackage) const {
  if (!directories_.contains(workpackage.directory))
    return std::nullopt;
  schedule::Job job = attempt_on_disk(run_, workpackage, "");
  const auto sentinel = schedule::read_sentinel(job.sentinel);
  if (!sentinel || !sentinel->attempt.ends_with(part_digits(workpackage)) ||
      workspace_.has_attempt(sentinel->attempt))
    return std::nullopt;
  if (!sentinel->exit_code)
    throw MachineError(
        fmt::format("workpackage {} was begun on {} by an attempt that the database has lost, and "
                    "may run still",
                    workpackage.id, sentinel->host));
  observer_.notice(fmt::format(
      "workpackage {} has ended, of which the database knows nothing; its sentinel tells "
      "how",
      workpackage.id));
  job.uuid = sentinel->attempt;
  return schedule::completion_from_sentinel(job);
}

}  // namespace bench::engine
