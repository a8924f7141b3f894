#pragma once

#include "state_store.hpp"

#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/machine/local.hpp>
#include <bench/run/observer.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

/// Attempts that the database has lost, with the end of a damaged log, say. The sentinels that they
/// left in the run directory tell how they ended.
class LostAttempts {
 public:
  LostAttempts(const space::Run& run, const workspace::Workspace& workspace, Observer& observer);

  /// How the next segment of the workpackage ended, where a lost attempt executed it, or a later
  /// segment; nothing where there was none. Each attempt is found once: what is repeated after it
  /// is executed.
  /// @param uuid of the attempt that is about to start
  /// @throws Error of the machine if a lost attempt has begun and may still be running
  std::optional<machine::Completion> find(const workspace::Workpackage& workpackage,
                                          const std::string& uuid);
  /// The database has the attempt, or it was found.
  bool is_known(const std::string& uuid) const { return known_.contains(uuid); }

 private:
  const space::Run& run_;
  Observer& observer_;
  std::set<std::string> directories_;      ///< In the run directory when bench began.
  std::unordered_set<std::string> known_;  ///< UUIDs of the attempts that are not lost, or found.
};

/// Settles what an earlier bench left behind when it ended or was killed.
class Recovery {
 public:
  Recovery(const space::Run& run, const workspace::Workspace& workspace, StateStore& store,
           const LostAttempts& lost, Observer& observer)
      : run_(run),
        attempts_(workspace.unsettled_attempts()),
        lost_(lost),
        store_(store),
        observer_(observer) {}

  /// What ran here: it has ended meanwhile, it is still running, or it is gone without a trace and
  /// starts again.
  /// @returns how those ended that have
  std::vector<machine::Completion> recover_processes(machine::LocalBackend& local,
                                                     evaluate::Evaluator& evaluator);

  /// What ran on another host and may still run there is left as it is: a sentence for each.
  const std::vector<std::string>& left_elsewhere() const { return left_elsewhere_; }

  /// The jobs that a batch system has, or may have where an earlier bench was killed before it
  /// recorded that they were accepted: `batch` finds out.
  void recover_jobs(machine::JobMonitor& batch);

 private:
  machine::Job job_of(const workspace::Attempt& attempt) const;

  const space::Run& run_;
  std::vector<workspace::Attempt> attempts_;
  std::vector<std::string> left_elsewhere_;
  const LostAttempts& lost_;
  StateStore& store_;
  Observer& observer_;
};

}  // namespace bench::run
