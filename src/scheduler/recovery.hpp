#pragma once

#include "course.hpp"
#include "ledger.hpp"

#include <bench/evaluate/evaluator.hpp>
#include <bench/execute/batch.hpp>
#include <bench/execute/local.hpp>
#include <bench/scheduler/observer.hpp>
#include <bench/scheduler/queue.hpp>
#include <bench/workflow/graph.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::scheduler {

/// Settles what an earlier bench left behind when it ended or was killed.
class Recovery {
 public:
  Recovery(const setup::Run& run, const workspace::Workspace& workspace, workflow::Graph& graph,
           const Queue& queue, Ledger& ledger, Observer& observer)
      : run_(run),
        workspace_(workspace),
        attempts_(workspace.unsettled_attempts()),
        graph_(graph),
        queue_(queue),
        ledger_(ledger),
        observer_(observer) {}

  /// What ran here: it has ended meanwhile, it still runs, or it is gone without a trace and has to
  /// be made again.
  /// @returns how those ended that have
  /// @throws Error if it ran on another host, where it may run still
  std::vector<execute::Completion> take_up_processes(execute::LocalBackend& local,
                                                     evaluate::Evaluator& evaluator);

  /// The jobs that a batch system has, or may have where an earlier bench did not live to record
  /// that it took them: `batch` finds out.
  void take_up_jobs(execute::BatchQueue& batch);

 private:
  const setup::Run& run_;
  const workspace::Workspace& workspace_;
  std::vector<workspace::Attempt> attempts_;
  workflow::Graph& graph_;
  const Queue& queue_;
  Ledger& ledger_;
  Observer& observer_;
};

}  // namespace bench::scheduler
