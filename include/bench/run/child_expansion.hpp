#pragma once

#include <deque>
#include <vector>

#include <bench/run/ready_queues.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/event.hpp>

namespace bench::store {

/// Makes the children of workpackages that are done, and those of chained steps once they are
/// submitted.
class ChildExpansion {
 public:
  ChildExpansion(const setup::Run& run, workflow::Graph& graph, ReadyQueues& queues);

  /// Takes those whose children can be made now from the queues.
  void take_released();
  /// Makes their children. After an error of the machine it can be called again, and continues
  /// where that came.
  /// @returns one event for those made ahead, then one for the others, each where there are any
  /// @throws Error if the machine refuses, or for more workpackages than the run may have
  workspace::Events make();
  /// The machine has refused the last time.
  bool is_refused() const { return !to_make_.empty(); }

 private:
  void make_some();

  const setup::Run& run_;
  workflow::Graph& graph_;
  ReadyQueues& queues_;
  /// Parents with the same fate.
  struct Part {
    std::vector<workflow::Graph::ParentTuple> parent_tuples;
    bool ahead = false;
  };
  std::deque<Part> to_make_;
  workspace::ExpandedAhead made_ahead_;
  workspace::Expanded made_;
};

}  // namespace bench::store
