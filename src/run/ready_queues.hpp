#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

/// How many workpackages may run at a time: what `procs`, `max_async`, common work directories and
/// `-j` say.
class Concurrency {
 public:
  explicit Concurrency(const space::Run& run);

  /// Learns the `max_async` of a step from its first workpackage, whose parameters it may hold.
  /// @throws Error for one that is not an integer
  void learn(std::size_t step, const workspace::Workpackage& workpackage);

  /// The `max_async` that a workpackage would have by its own parameters; 0: any number.
  /// @throws Error for one that is not an integer
  int max_async_of(std::size_t step, const workspace::Workpackage& workpackage) const;

  /// How many of a step may run at a time; 0: any number. 1 by default where they work in one
  /// directory together, as their author expects.
  int most_running(std::size_t step) const { return steps_[step].most_running; }
  /// How many of a step may be begun and not ended, those included that wait; 0: any number.
  int most_unfinished(std::size_t step) const { return steps_[step].most_unfinished.value_or(0); }
  /// The smaller of both; 0: any number.
  int limit(std::size_t step) const;
  /// How many workpackages may run here at a time while this one does, itself included: one, unless
  /// `-j` or its step says otherwise. A job script runs alone.
  int beside(std::size_t step, const workspace::Workpackage& workpackage) const;
  /// How many of the step itself run at a time, here or as jobs of a batch system; 0: any number.
  int of_step(std::size_t step) const;

 private:
  struct Limits {
    int most_running = 0;
    std::optional<int> most_unfinished;  ///< Known with the first workpackage.
  };

  const space::Run& run_;
  std::optional<int> parallel_;  ///< What `-j` says.
  std::vector<Limits> steps_;    ///< By index of the step.
};

/// Why a ready workpackage must not start yet. It starts when none of them is left.
enum class Hold : std::uint8_t {
  parents = 1,  ///< A parent of a chained one has neither ended nor a job.
  prune = 2,    ///< One before it may imply its outcome.
  nodes = 4     ///< The nodes that its job has to get are not known.
};

/// Which workpackages may start, and which ended ones may have their children now. Part of the
/// state store, which removes a workpackage before each change of it and adds it again after:
/// everything here follows from the workpackages as they are. Constant work per change.
class ReadyQueues {
 public:
  explicit ReadyQueues(const space::Run& run);

  /// Counts a workpackage of a step in as it is now. Only the highest ids may be new.
  void add(std::size_t step, const workspace::Workpackage& workpackage);
  /// Counts a workpackage out as `add` counted it in.
  void remove(std::size_t step, const workspace::Workpackage& workpackage);
  /// Keeps a workpackage from starting while it is ready, or ends that. Of one that has been added
  /// it has an effect from its next `add` on.
  void hold(long long id, Hold why) { holds_[id] |= static_cast<std::uint8_t>(why); }
  void let_go(long long id, Hold why);
  bool is_held(long long id, Hold why) const;
  /// Keeps a ready workpackage from starting until it is removed and added again.
  void defer(std::size_t step, const workspace::Workpackage& workpackage);

  /// The next ready workpackage, -1 for none: the first of each step that may start another, in the
  /// order that the step has; of several steps, that with the lowest id.
  long long front() const;
  /// Ready workpackages for the batch system, in the order of their steps. They collect here, so
  /// that many go out together; where the batch system cannot keep to the limit of a step, no more
  /// of it than may run now.
  std::vector<long long> batch_ready() const;
  /// How many they are.
  std::size_t batch_ready_count() const;
  /// The workpackages that wait for a file or at a barrier.
  const std::set<long long>& waiting() const { return waiting_; }
  /// The workpackages of a step, ascending.
  const std::vector<long long>& members(std::size_t step) const { return steps_[step].members; }
  const Concurrency& concurrency() const { return concurrency_; }

  /// Done workpackages whose children can be made now, ascending; each comes once. They are
  /// released in order of their ids, over all steps and whatever order they ended in, so that the
  /// children's ids do not depend on timing. A workpackage that waits for something outside, a
  /// batch system or a `done_file`, holds no other up and is released when it has ended.
  /// @param all the workpackages of the run, ascending
  std::vector<long long> take_released(const std::vector<workspace::Workpackage>& all);
  /// Submitted workpackages whose children of chained steps can be made now, ascending.
  std::vector<long long> take_submitted(const std::vector<workspace::Workpackage>& all);
  bool has_submitted() const { return !submitted_.empty(); }
  /// Whether done workpackages of a step have no children yet.
  bool has_unexpanded(std::size_t step) const { return steps_[step].unexpanded > 0; }

 private:
  /// Where a workpackage stands in a queue.
  struct Place {
    std::uint64_t rank = 0;  ///< As the order of the step has it.
    long long id = 0;

    auto operator<=>(const Place&) const = default;
  };
  using Queue = std::deque<Place>;

  struct StepQueue {
    const model::Step* step;
    Queue ready;    ///< Not started yet.
    Queue resumed;  ///< Ready for their next segment: they are unfinished already.
    Queue batch_ready;
    bool scheduled = false;  ///< A batch system runs its commands.
    bool has_children = false;
    bool has_chained_children = false;
    int running = 0;     ///< Here, or submitted.
    int unfinished = 0;  ///< Begun, neither done nor failed, and at no barrier.
    int unexpanded = 0;  ///< Done, without children.
    std::vector<long long> members;
  };

  std::size_t startable(std::size_t step) const;
  Place place_of(const StepQueue& queue, const workspace::Workpackage& workpackage) const;
  Queue& queue_for(StepQueue& queue, const workspace::Workpackage& workpackage);
  static void insert_in_order(Queue& queue, Place place);
  static void erase(Queue& queue, Place place);
  void count(StepQueue& queue, const workspace::Workpackage& workpackage, int by);
  static bool is_unexpanded(const StepQueue& queue, const workspace::Workpackage& workpackage);
  bool holds_up(const workspace::Workpackage& workpackage) const;

  const space::Run& run_;
  Concurrency concurrency_;
  std::vector<StepQueue> steps_;  ///< By index of the step.
  std::set<long long> waiting_;
  std::size_t next_ = 0;          ///< Position of the first workpackage that holds the others up.
  std::vector<long long> ended_;  ///< Unexpanded since the last release.
  std::vector<long long> submitted_;  ///< Without chained children, since the last were taken.
  std::unordered_map<long long, std::uint8_t> holds_;  ///< Sums of `Hold`; never 0.
};

}  // namespace bench::run
