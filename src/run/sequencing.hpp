#pragma once

#include <functional>
#include <optional>
#include <string>

#include <bench/machine/job.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

// What comes next for a workpackage, as pure functions: from its step, its progress, how an attempt
// ended and what the files that its commands watch say, to the event that follows.

namespace bench::scheduler {

/// A workpackage whose next event is to be found.
struct Situation {
  const model::Step& step;
  const workspace::Workpackage& workpackage;
  /// How its last attempt ended.
  const execute::Completion& completion;
  /// What that left in the environment, as a difference to bench's own.
  workspace::EnvironmentChanges environment;
  /// Whether the `active` of a command holds. Asked for shared commands only.
  std::function<bool(const model::Command&)> is_active;
};

/// Its attempt was cut off. A job that the batch system lost before it began is submitted again, up
/// to `batch::most_resubmissions` times.
workspace::Event after_interruption(const Situation& situation);

/// Its attempt failed: retried as often as the step says, and then failed.
workspace::Event after_failure(const Situation& situation);

/// It has executed everything before `progress`, which may lie behind the last command of a cycle:
/// ready for its next segment, waiting at a barrier before a shared command, or done.
workspace::Event after_success(const Situation& situation, workspace::Progress progress);

/// The last command that it executed watches files.
/// @param command its index
/// @returns none where a workpackage keeps waiting
std::optional<workspace::Event> after_watching(const Situation& situation, int command,
                                               const job::Watched& watched);

/// A workpackage that cannot go on, or waits for what will never come.
workspace::Event failed_for(long long workpackage, const std::string& reason,
                            const std::string& host);

}  // namespace bench::scheduler
