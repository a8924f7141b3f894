#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <bench/setup/run.hpp>
#include <bench/workflow/graph.hpp>

namespace bench::scheduler {

/// Which workpackages may start, and which finished ones may have their children now. Constant work
/// per workpackage.
class Queue {
 public:
  Queue(const setup::Run& run, const workflow::Graph& graph);

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
  /// How many workpackages may run here at a time while this one does, itself included: one, unless
  /// `-j`, or `procs` or `max_async` of its step, says otherwise. A job script runs alone.
  int at_once(const workspace::Workpackage& workpackage) const;
  /// How many of the step itself, here or as jobs of a batch system; 0: any number.
  int of_step_at_once(const std::string& step) const;
  /// The workpackages of a step, ascending.
  const std::vector<long long>& members(const std::string& step) const;

  /// Done workpackages whose children can be made now, ascending. They are released in order of
  /// their ids, over all steps and whatever order they ended in, so that the children's ids do not
  /// depend on timing. Only what waits for something outside, a batch system or a `done_file`,
  /// holds nobody up and is released when it has ended.
  std::vector<long long> take_released(const workflow::Graph& graph);
  /// Whether done workpackages of a step have not been released yet.
  bool has_unreleased(const std::string& step) const;

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
    int unreleased = 0;              ///< Done, and their children not made yet.
    std::vector<long long> members;  ///< Ascending.
  };

  std::size_t takeable(const StepQueue& queue) const;
  std::deque<long long>& place_for(StepQueue& queue, const workspace::Workpackage& workpackage);
  StepQueue& of(const std::string& step);
  const StepQueue& of(const std::string& step) const;
  /// Takes the limit of `max_async`, which may hold parameters.
  void take_limit(StepQueue& queue, const workspace::Workpackage& workpackage) const;

  static bool is_to_release(const StepQueue& queue, const workspace::Workpackage& workpackage);
  bool holds_up(const workspace::Workpackage& workpackage) const;

  const setup::Run& run_;
  std::optional<int> parallel_;  ///< What `-j` says.
  std::vector<StepQueue> steps_;
  std::size_t next_ = 0;            ///< Position of the first workpackage that holds the others up.
  std::vector<long long> stopped_;  ///< To release, since the last time.
};

}  // namespace bench::scheduler
