#include "lost_attempts.hpp"

#include <filesystem>

#include <fmt/core.h>

#include <bench/base/outage.hpp>
#include <bench/execute/sentinel.hpp>
#include <bench/job/part.hpp>
#include <bench/job/prepare.hpp>

namespace bench::scheduler {

LostAttempts::LostAttempts(const setup::Run& run, const workspace::Workspace& workspace,
                           Observer& observer)
    : run_(run), workspace_(workspace), observer_(observer) {
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(run.directory.path, absent))
    directories_.insert(entry.path().filename().string());
}

std::optional<execute::Completion> LostAttempts::find(
    const workspace::Workpackage& workpackage) const {
  if (!directories_.contains(workpackage.directory))
    return std::nullopt;
  execute::Job job = job::attempt_on_disk(run_, workpackage, "");
  const auto sentinel = execute::read_sentinel(job.sentinel);
  if (!sentinel || !sentinel->attempt.ends_with(job::part_digits(workpackage)) ||
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
  return execute::completion_from_sentinel(job);
}

}  // namespace bench::scheduler
