#pragma once

#include "graph.hpp"
#include "ledger.hpp"
#include "queue.hpp"

#include <deque>
#include <vector>

#include <bench/engine/run.hpp>

namespace bench::engine {

/// Makes the children of workpackages that are done.
class ChildExpansion {
 public:
  ChildExpansion(const Run& run, Graph& graph, Queue& queue, Ledger& ledger);

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

  const Run& run_;
  Graph& graph_;
  Queue& queue_;
  Ledger& ledger_;
  std::vector<long long> released_;
  std::deque<std::vector<Graph::Couple>> coming_;  ///< Their children are not made yet.
  std::vector<workspace::Workpackage> made_;
};

}  // namespace bench::engine
