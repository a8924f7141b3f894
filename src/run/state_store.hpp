#pragma once

#include "ready_queues.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

/// Makes the children of workpackages that are done, and those of chained steps once they are
/// submitted.
class ChildExpansion {
 public:
  ChildExpansion(const space::Run& run, space::Graph& graph, ReadyQueues& queues);

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

  const space::Run& run_;
  space::Graph& graph_;
  ReadyQueues& queues_;
  /// Parents with the same fate.
  struct Part {
    std::vector<space::Graph::ParentTuple> parent_tuples;
    bool ahead = false;
  };
  std::deque<Part> to_make_;
  workspace::ExpandedAhead made_ahead_;
  workspace::Expanded made_;
};

/// The state of a run while bench works on it: its workpackages, their environments, the counts per
/// step and the ready queues. The only place that changes any of them, one event at a time. What
/// the workspace does not know yet is the list of events since the last `take_events`; nobody reads
/// the workspace in between.
class StateStore {
 public:
  /// Reads the state from the workspace.
  StateStore(const space::Run& run, const workspace::Workspace& workspace,
             evaluate::Evaluator& evaluator);
  StateStore(const StateStore&) = delete;

  /// Checks the event against the table of transitions, changes the state and appends the event to
  /// the list for the workspace.
  /// @throws Error if it is illegal; nothing changes then
  void apply(const workspace::Event& event);
  /// Calls `listener` after every event.
  void listen(std::function<void(const workspace::Event&)> listener) {
    listeners_.push_back(std::move(listener));
  }
  /// The events that the workspace does not know yet, in order. Emptied.
  workspace::Events take_events() { return std::exchange(events_, {}); }
  bool has_events() const { return !events_.empty(); }

  /// Makes the workpackages of the steps that depend on nothing.
  /// @throws Error as `space::Graph::make_first` does
  void expand_first();
  /// Makes the children of what is done, as far as their turn has come. After an error of the
  /// machine it can be called again, and continues where that came.
  /// @throws Error as `ChildExpansion::make` does
  void expand_released();
  /// There are submitted workpackages whose chained children can be made.
  bool can_expand_ahead() const { return queues_.has_submitted(); }
  /// The machine refused the last expansion.
  bool is_expansion_refused() const { return children_.is_refused(); }
  /// Makes further iterations of a workpackage's combination: `space::Graph::make_iterations`.
  /// @returns whether there is any
  bool add_iterations(long long of, int begin, int end);
  /// Makes its combination with another value of a parameter: `space::Graph::make_variant`.
  /// @returns whether there is any
  bool add_variant(long long of, const std::string& parameter, const std::string& value);
  /// Keeps a ready workpackage from starting for as long as this bench works on the run.
  void defer(long long id);
  /// Keeps a workpackage from starting until it is let go again.
  void hold(long long id, Hold why);
  /// Without effect where it is not held for this reason.
  void let_go(long long id, Hold why);

  const space::Graph& graph() const { return graph_; }
  const ReadyQueues& queues() const { return queues_; }
  const std::vector<workspace::Workpackage>& all() const { return graph_.all(); }
  const workspace::Workpackage& at(long long id) const { return graph_.at(id); }
  const model::Step& step_of(const workspace::Workpackage& workpackage) const;
  /// A parent failed or has not ended: its step is chained.
  bool is_ahead(const workspace::Workpackage& workpackage) const;
  /// Workpackages that are or were ahead of their parents and have something new about them or
  /// their parents, ascending. Emptied.
  std::set<long long> take_chained_news() { return std::exchange(chained_news_, {}); }
  /// The UUID of the attempt under way.
  const std::string& uuid(long long id) const { return uuids_.at(id); }
  /// What the last segment of a workpackage left in its environment.
  const workspace::EnvironmentChanges& environment(long long id) const;
  /// The environment that the next segment of a workpackage begins with, against bench's own: that
  /// of its last segment, or what its parents export.
  workspace::EnvironmentChanges inherited_environment(long long id) const;

  /// One entry per step, in order of the benchmark.
  const std::vector<workspace::StepCounts>& counts() const { return counts_; }
  const workspace::StepCounts& counts_of(const model::Step& step) const;
  /// The workpackages of a step, ascending.
  const std::vector<long long>& members(const model::Step& step) const;
  bool has_unexpanded(const model::Step& step) const;
  /// How many of a step may run at a time; 0: any number.
  int limit(const model::Step& step) const;
  /// As `Concurrency::beside`.
  int concurrent_beside(const workspace::Workpackage& workpackage) const;
  /// A workpackage has failed since this bench began.
  bool any_failed() const { return any_failed_; }

  /// As the functions of space::Graph.
  std::vector<std::string> take_notices() { return graph_.take_notices(); }
  std::vector<Warning> take_warnings() { return graph_.take_warnings(); }

 private:
  std::size_t step_index(const workspace::Workpackage& workpackage) const;
  bool add(std::vector<workspace::Workpackage> made);
  template <class SomeEvent>
  void change(const SomeEvent& event, long long id,
              const workspace::EnvironmentChanges* environment);
  template <class Expansion>
  void expand(const Expansion& event);
  void follow_chain(const workspace::Workpackage& changed);
  void keep_environment(long long id, const workspace::EnvironmentChanges& environment);
  void count_in(const workspace::Workpackage& workpackage);

  const space::Run& run_;
  space::Graph graph_;
  ReadyQueues queues_;
  ChildExpansion children_;
  std::vector<workspace::StepCounts> counts_;  ///< By index of the step.
  std::unordered_map<long long, workspace::EnvironmentChanges> environments_;
  std::unordered_map<long long, std::string> uuids_;
  workspace::Events events_;
  std::vector<std::function<void(const workspace::Event&)>> listeners_;
  bool any_failed_ = false;
  /// Of a chained run: by parent, those that were made before it had ended.
  std::unordered_map<long long, std::vector<long long>> chained_children_;
  std::set<long long> chained_news_;
};

/// The workpackages that an event adds to the run; null for one that adds none.
const std::vector<workspace::Workpackage>* added_by(const workspace::Event& event);

/// A new attempt of a ready workpackage: a UUID that ends in the digits of its next segment, and
/// this host.
workspace::Claimed claim_of(const workspace::Workpackage& workpackage);

}  // namespace bench::run
