#pragma once

#include <deque>
#include <optional>
#include <vector>

#include <bench/setup/run.hpp>
#include <bench/store/ready_queues.hpp>
#include <bench/workflow/graph.hpp>
#include <bench/workspace/event.hpp>

namespace bench::store {

/// Makes the children of workpackages that are done.
class ChildExpansion {
 public:
  ChildExpansion(const setup::Run& run, workflow::Graph& graph, ReadyQueues& queues);

  /// Takes those whose children can be made now from the queues.
  void take_released();
  /// Makes their children. After an error of the machine it can be called again, and continues
  /// where that came.
  /// @returns nothing where there are none to make
  /// @throws Error if the machine refuses, or for more workpackages than the run may have
  std::optional<workspace::Expanded> make();
  /// The machine has refused the last time.
  bool is_refused() const { return !to_make_.empty(); }

 private:
  void make_some();

  const setup::Run& run_;
  workflow::Graph& graph_;
  ReadyQueues& queues_;
  std::deque<std::vector<workflow::Graph::ParentTuple>> to_make_;
  workspace::Expanded made_;
};

}  // namespace bench::store
