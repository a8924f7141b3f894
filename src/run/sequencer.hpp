#pragma once

#include "state_store.hpp"

#include <functional>
#include <optional>
#include <string>

#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/job.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

// What comes next for a workpackage, as pure functions: from its step, its progress, how an attempt
// ended and what the files that its commands watch say, to the event that follows.

/// A workpackage whose next event is to be found.
struct Situation {
  const model::Step& step;
  const workspace::Workpackage& workpackage;
  /// How its last attempt ended.
  const machine::Completion& completion;
  /// What that left in the environment, as a difference to bench's own.
  workspace::EnvironmentChanges environment;
  /// Whether the `active` of a command holds. Asked for shared commands only.
  std::function<bool(const model::Command&)> is_active;
};

/// Its attempt was cut off. A job that the batch system lost before it began is submitted again, up
/// to `machine::most_resubmissions` times.
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
                                               const space::Watched& watched);

/// A workpackage that cannot go on, or waits for what will never come.
workspace::Event failed_for(long long workpackage, const std::string& reason,
                            const std::string& host);

/// Advances workpackages through their commands and cycles: reads what an attempt left on disk and
/// the files that commands watch, asks the functions above what follows, and applies it to the
/// store.
class Sequencer {
 public:
  Sequencer(const space::Run& run, StateStore& store, evaluate::Evaluator& evaluator)
      : run_(run), store_(store), evaluator_(evaluator) {}

  /// An attempt has ended. For one that is superseded, its watched files say nothing any more.
  /// @throws Error if what follows cannot be told; the workpackage has failed then
  void conclude(const machine::Completion& completion);
  /// The user has interrupted bench, and with it the commands of a workpackage.
  void interrupt(long long id);
  /// An attempt says nothing about its workpackage: what it left is not for the next one.
  void forget_environment(long long id);

  /// Checks the files that a waiting workpackage waits for; nothing for one at a barrier.
  /// @throws Error as `conclude` does
  void check_watch_files(long long id);

  /// The workpackage cannot go on.
  void fail(long long id, const std::string& reason);

  /// Lets the steps whose workpackages have all arrived at a shared command execute it, by the last
  /// of them. Where one cannot arrive any more, the others fail, since they would wait for ever.
  void pass_barriers();

 private:
  machine::Completion with_told_outcome(machine::Completion completion) const;
  void conclude_success(const machine::Completion& completion);
  void conclude_shared(const machine::Completion& completion,
                       const workspace::EnvironmentChanges& environment);
  /// @param command index of the command that has ended
  void advance_past(int command, const machine::Completion& completion,
                    const workspace::EnvironmentChanges& environment);
  Situation situation_of(const machine::Completion& completion,
                         workspace::EnvironmentChanges environment) const;
  void pass_barrier(const model::Step& step);
  /// Why the workpackages of a step cannot all arrive any more; empty while they can.
  std::string barrier_failure(const model::Step& step) const;
  /// Whether every workpackage that the step will ever have exists.
  bool is_complete(const model::Step& step) const;

  const space::Run& run_;
  StateStore& store_;
  evaluate::Evaluator& evaluator_;
};

}  // namespace bench::run
