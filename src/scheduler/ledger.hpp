#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include <bench/execute/job.hpp>
#include <bench/scheduler/observer.hpp>
#include <bench/scheduler/queue.hpp>
#include <bench/setup/run.hpp>
#include <bench/workflow/graph.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::scheduler {

/// How every workpackage of the run stands, with what the workspace has not been told yet. The one
/// place that changes the state of a workpackage: in memory, in the queue, in the counts and in the
/// changes to write, together.
class Ledger {
 public:
  Ledger(const setup::Run& run, workflow::Graph& graph, Queue& queue, Observer& observer);

  /// New workpackages.
  void take_in(const std::vector<workspace::Workpackage>& made);
  /// Those released have their children now.
  void mark_expanded(const std::vector<long long>& released);
  /// Marks as running; returns the attempt's UUID.
  const std::string& claim(workspace::Workpackage& workpackage);
  /// It is about to be handed to a batch system.
  void book(const workspace::Workpackage& workpackage, const std::string& submission,
            std::optional<int> task);
  /// A batch system has it.
  void submit(workspace::Workpackage& workpackage, const std::string& job_id);
  /// It is done or has failed.
  void end(workspace::Workpackage& workpackage, const execute::Completion& completion,
           const workspace::EnvironmentChanges& environment = {});
  /// It has failed and is ready again, from the beginning.
  void repeat(workspace::Workpackage& workpackage, const execute::Completion& completion);
  /// It is ready for its next part, or pending.
  void advance(workspace::Workpackage& workpackage, workspace::State to,
               const workspace::Progress& progress,
               const workspace::EnvironmentChanges& environment);
  /// Its attempt was cut off; it is ready again.
  void come_back(workspace::Workpackage& workpackage, const std::string& reason);
  /// The same, for the bench that continues: nothing changes until somebody mends it.
  void come_back_later(workspace::Workpackage& workpackage, const std::string& reason);
  /// The machine kept it from being started. It is ready again, for the bench that continues.
  void hold_back(workspace::Workpackage& workpackage, const std::string& reason);
  /// The machine kept it from being taken further. It stays as it is, running or submitted, so that
  /// the bench that continues finds out from what lies on disk how it has ended, if it has.
  void leave(const std::string& reason);

  /// What the last part of a workpackage left in its environment, where the workspace has not been
  /// told yet; else null.
  const workspace::EnvironmentChanges* unwritten_environment(long long id) const;
  /// The UUID of the attempt under way.
  const std::string& uuid(long long id) const { return uuids_.at(id); }
  const std::vector<workspace::StepCounts>& counts() const { return counts_; }
  const workspace::StepCounts& counts_of(const std::string& step) const;
  bool any_failed() const { return any_failed_; }
  bool any_pending() const;
  /// What was held back, and why; empty: nothing.
  std::string held_back() const;

  /// What the workspace has not been told yet. Emptied.
  workspace::Changes take_changes();
  bool has_changes() const { return !changes_.empty(); }

 private:
  long long& count_of(const workspace::Workpackage& workpackage);
  void set_state(workspace::Workpackage& workpackage, workspace::State state);
  void cut_off(workspace::Workpackage& workpackage, const std::string& reason);

  const setup::Run& run_;
  workflow::Graph& graph_;
  Queue& queue_;
  Observer& observer_;
  workspace::Changes changes_;
  std::unordered_map<long long, std::size_t>
      advanced_;  ///< Index of its latest advance in changes_.
  std::unordered_map<long long, std::string> uuids_;
  std::unordered_map<std::string, std::size_t> step_index_;
  std::vector<workspace::StepCounts> counts_;
  bool any_failed_ = false;
  std::size_t held_ = 0;
  std::string first_held_reason_;
};

}  // namespace bench::scheduler
