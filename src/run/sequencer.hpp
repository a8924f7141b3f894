#pragma once

#include "sequencing.hpp"

#include <string>

#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/job.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/state_store.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::scheduler {

/// Advances workpackages through their commands and cycles: reads what an attempt left on disk and
/// the files that commands watch, asks sequencing.hpp what follows, and applies it to the store.
class Sequencer {
 public:
  Sequencer(const setup::Run& run, store::StateStore& store, evaluate::Evaluator& evaluator)
      : run_(run), store_(store), evaluator_(evaluator) {}

  /// An attempt has ended. For one that is superseded, its watched files say nothing any more.
  /// @throws Error if what follows cannot be told; the workpackage has failed then
  void conclude(const execute::Completion& completion);
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
  execute::Completion with_told_outcome(execute::Completion completion) const;
  void conclude_success(const execute::Completion& completion);
  void conclude_shared(const execute::Completion& completion,
                       const workspace::EnvironmentChanges& environment);
  /// @param command index of the command that has ended
  void advance_past(int command, const execute::Completion& completion,
                    const workspace::EnvironmentChanges& environment);
  Situation situation_of(const execute::Completion& completion,
                         workspace::EnvironmentChanges environment) const;
  void pass_barrier(const model::Step& step);
  /// Why the workpackages of a step cannot all arrive any more; empty while they can.
  std::string barrier_failure(const model::Step& step) const;
  /// Whether every workpackage that the step will ever have exists.
  bool is_complete(const model::Step& step) const;

  const setup::Run& run_;
  store::StateStore& store_;
  evaluate::Evaluator& evaluator_;
};

}  // namespace bench::scheduler
