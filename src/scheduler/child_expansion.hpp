#pragma once

#include "ledger.hpp"

#include <deque>
#include <vector>

#include <bench/scheduler/queue.hpp>
#include <bench/setup/run.hpp>
#include <bench/workflow/graph.hpp>

namespace bench::scheduler {

/// Makes the children of workpackages that are done.
class ChildExpansion {
 public:
  ChildExpansion(const setup::Run& run, workflow::Graph& graph, Queue& queue, Ledger& ledger);

  /// Takes those whose children can be made now from the queue.
  void take_released();
  /// Makes their children. After an error of the machine it can be called again, and continues
  /// where that came.
  /// @throws Error if the machine refuses, or for more workpackages than the run may have
  void make();
  /// The machine has refused the last time.
  bool is_refused() const { return !coming_.empty(); }

 private:
  void make_some();

  const setup::Run& run_;
  workflow::Graph& graph_;
  Queue& queue_;
  Ledger& ledger_;
  std::vector<long long> released_;
  std::deque<std::vector<workflow::Graph::ParentTuple>>
      coming_;  ///< Their children are not made yet.
  std::vector<workspace::Workpackage> made_;
};

}  // namespace bench::scheduler
