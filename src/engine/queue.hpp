#pragma once

#include "graph.hpp"

#include <deque>
#include <optional>
#include <string>
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
  /// A workpackage starts; it is still `ready`.
  void started(const workspace::Workpackage& workpackage);
  /// A workpackage has left the state `before`, running, submitted or pending, for the one it has
  /// now.
  void stopped(const workspace::Workpackage& workpackage, workspace::State before);

  /// The ready workpackage with the lowest id among the steps that may start another; -1 for none.
  long long front() const;
  /// Ready workpackages that a batch system shall run, ascending. They gather here, so that many go
  /// out together; where the batch system cannot mind the limit of a step, no more of it than may
  /// run now.
  std::vector<long long> take_gathered();
  /// How many there are to take.
  std::size_t gathered() const;
  /// How many workpackages of a step may run at a time, by its `max_async`, `procs` or common work
  /// directory; 0: any number.
  int limit(const std::string& step) const;
  /// The workpackages of a step, ascending.
  const std::vector<long long>& members(const std::string& step) const;

  /// Done workpackages whose children can be made now. Those of a step are released in order of
  /// their ids, whatever order they ended in, so that the children's ids do not depend on timing;
  /// only a step that may wait for days, for a scheduler or for a `done_file`, releases them as
  /// they end.
  std::vector<long long> take_released(const Graph& graph);

 private:
  struct StepQueue {
    const model::Step* step;
    std::deque<long long> ready;     ///< Not started yet.
    std::deque<long long> resumed;   ///< Ready for their next part: they are unfinished already.
    std::deque<long long> gathered;  ///< Ready for the batch system.
    bool scheduled = false;          ///< A batch system runs its commands.
    int running = 0;
    int unfinished = 0;                  ///< Started, and neither done nor failed.
    int most_running = 0;                ///< 0: no limit.
    std::optional<int> most_unfinished;  ///< Known with the first workpackage; 0: no limit.
    bool has_children = false;
    bool in_order = true;
    std::vector<long long> members;  ///< Ascending.
    std::size_t next = 0;            ///< Index of the first member that is not done with.
    std::vector<long long> stopped;  ///< Where the order does not count: since the last release.
  };

  std::size_t takeable(const StepQueue& queue) const;
  std::deque<long long>& place_for(StepQueue& queue, const workspace::Workpackage& workpackage);
  StepQueue& of(const std::string& step);
  const StepQueue& of(const std::string& step) const;
  /// Takes the limit of `max_async`, which may hold parameters.
  void take_limit(StepQueue& queue, const workspace::Workpackage& workpackage) const;

  const Run& run_;
  std::vector<StepQueue> steps_;
};

}  // namespace bench::engine
