#pragma once

#include "lost_attempts.hpp"

#include <string>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/machine/local.hpp>
#include <bench/run/observer.hpp>
#include <bench/run/state_store.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::scheduler {

/// Settles what an earlier bench left behind when it ended or was killed.
class Recovery {
 public:
  Recovery(const setup::Run& run, const workspace::Workspace& workspace, store::StateStore& store,
           const LostAttempts& lost, Observer& observer)
      : run_(run),
        attempts_(workspace.unsettled_attempts()),
        lost_(lost),
        store_(store),
        observer_(observer) {}

  /// What ran here: it has ended meanwhile, it is still running, or it is gone without a trace and
  /// starts again.
  /// @returns how those ended that have
  std::vector<execute::Completion> recover_processes(execute::LocalBackend& local,
                                                     evaluate::Evaluator& evaluator);

  /// What ran on another host and may still run there is left as it is: a sentence for each.
  const std::vector<std::string>& left_elsewhere() const { return left_elsewhere_; }

  /// The jobs that a batch system has, or may have where an earlier bench was killed before it
  /// recorded that they were accepted: `batch` finds out.
  void recover_jobs(batch::JobMonitor& batch);

 private:
  execute::Job job_of(const workspace::Attempt& attempt) const;

  const setup::Run& run_;
  std::vector<workspace::Attempt> attempts_;
  std::vector<std::string> left_elsewhere_;
  const LostAttempts& lost_;
  store::StateStore& store_;
  Observer& observer_;
};

}  // namespace bench::scheduler
