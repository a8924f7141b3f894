#pragma once

#include "graph.hpp"

#include <deque>
#include <vector>

#include <bench/engine/run.hpp>

namespace bench::engine {

/// Which workpackages may start, and which finished ones may have their children now. Constant work
/// per workpackage.
class Queue {
 public:
  Queue(const Run& run, const Graph& graph);

  /// A workpackage has come into being, or back.
  void add_ready(const workspace::Workpackage& workpackage);
  /// A workpackage has started, or has stopped running (ended, or was interrupted).
  void started(const workspace::Workpackage& workpackage);
  void stopped(const workspace::Workpackage& workpackage);

  /// The ready workpackage with the lowest id among the steps that may start another; -1 for none.
  long long front() const;

  /// Done workpackages whose children can be made now. Those of a step are released in order of
  /// their ids, whatever order they ended in, so that the children's ids do not depend on timing;
  /// only a step whose jobs a scheduler runs releases them as they end, since one may wait for
  /// days.
  std::vector<long long> take_released(const Graph& graph);

 private:
  struct StepQueue {
    const model::Step* step;
    std::deque<long long> ready;
    int running = 0;
    int limit = 0;  ///< Most that may run at once; 0: no limit.
    bool has_children = false;
    bool in_order = true;
    std::vector<long long> members;  ///< Ascending.
    std::size_t next = 0;            ///< Index of the first member that is not done with.
    std::vector<long long> stopped;  ///< Where the order does not count: since the last release.
  };

  StepQueue& of(const std::string& step);

  std::vector<StepQueue> steps_;
};

}  // namespace bench::engine
