#pragma once

#include "state_store.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <bench/machine/job.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/run/observer.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

/// Keeps chained workpackages in step with their parents. While a parent has a job, theirs waits
/// for it in the batch system. Where a parent is repeated, they are submitted again; where it has
/// failed or was skipped, so are they.
class Chain {
 public:
  Chain(StateStore& store, machine::JobMonitor& batch, Observer& observer)
      : store_(store), batch_(batch), observer_(observer) {}

  /// Whether the outcome of an attempt depends on a parent: its job ended before it began, and a
  /// parent has failed or not ended. `settle` then returns the attempt.
  bool decides_later(const machine::Completion& completion);

  /// Updates all chained workpackages after changes of their parents. @returns completions that
  /// `decides_later` kept and that do not depend on a parent
  std::vector<machine::Completion> settle();

 private:
  std::optional<machine::Completion> settle(long long id);
  void withdraw(const workspace::Workpackage& workpackage, const std::string& reason);
  const workspace::Workpackage* first_parent(const workspace::Workpackage& workpackage,
                                             bool (*fits)(const workspace::Workpackage&)) const;

  StateStore& store_;
  machine::JobMonitor& batch_;
  Observer& observer_;
  std::map<long long, machine::Completion> kept_;  ///< By workpackage.
};

}  // namespace bench::run
