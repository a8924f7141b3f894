#pragma once

#include "journal.hpp"
#include "recovery.hpp"
#include "same_nodes.hpp"
#include "state_store.hpp"
#include "submission.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

/// Compares the node hours of a run's jobs with its budget. Without a budget it admits everything
/// and counts nothing.
class BudgetTracker {
 public:
  /// Reads the submitted attempts so far from the workspace, and follows the store from then on.
  BudgetTracker(const space::Run& run, const workspace::Workspace& workspace, StateStore& store,
                evaluate::Evaluator& evaluator);
  BudgetTracker(const BudgetTracker&) = delete;

  /// Sums up what all jobs took or may take: of ended jobs nodes times what they ran, of others,
  /// and where that is not known, nodes times their time limit.
  void count();
  /// @throws Error with `place` for a job whose end nobody knows
  void check(const space::JobRequest& request, const Place& place) const;
  /// Whether that many more jobs may be submitted.
  bool admits(const space::JobRequest& request, std::size_t jobs);
  /// They have gone out.
  void add(const space::JobRequest& request, std::size_t jobs);
  /// Why the last ones were not admitted.
  const std::string& refusal() const { return refusal_; }

 private:
  void follow(const workspace::Event& event);
  void end_attempt(long long workpackage, const AttemptEnd& end);
  static double node_hours(const space::JobRequest& request, std::size_t jobs);

  const space::Run& run_;
  StateStore& store_;
  evaluate::Evaluator& evaluator_;
  std::optional<double> budget_h_;
  std::vector<workspace::Attempt> submitted_;        ///< Of all workpackages, in any order.
  std::unordered_map<long long, std::size_t> open_;  ///< The attempt under way, by workpackage.
  double taken_h_ = 0;
  std::string refusal_;
};

/// Submits workpackages to the batch system: those with equal requests as one array, several in one
/// job where the step packs them, the others one by one. Everything is in the workspace before the
/// submission, so that bench can recover from a kill at any moment.
class Submitter {
 public:
  /// @param run gets the partitions before the first submission
  Submitter(space::Run& run, const workspace::Workspace& workspace, StateStore& store,
            Journal& journal, evaluate::Evaluator& evaluator, LostAttempts& lost,
            SameNodes& same_nodes, machine::JobMonitor& batch);

  /// Refused workpackages stay ready, for a bench with other settings.
  /// @param ids ready workpackages, ascending
  /// @returns how those ended that could not be prepared or had ended already; with `held_up` where
  /// the machine prevented the submission: make those ready again
  std::vector<machine::Completion> submit(const std::vector<long long>& ids);

  /// Why the last submission did not reach the batch system; empty: it did.
  const std::string& blocked_reason() const { return failure_; }
  void clear_blocked_reason() { failure_.clear(); }
  /// Messages of the batch system about refused jobs, with the number of workpackages; empty: it
  /// accepted all.
  std::string refusals() const;
  /// True if there are new ones since the last call.
  bool take_refused() { return std::exchange(newly_refused_, false); }
  /// True if the budget of the run stopped the submission; only a job that ends can change that.
  bool is_spent() const { return spent_; }
  void job_has_ended() { spent_ = false; }

 private:
  void submit_some(std::span<const long long> ids, std::vector<machine::Completion>& failed);
  std::vector<Planned> prepare_all(std::span<const long long> ids,
                                   std::vector<machine::Completion>& failed);
  machine::Completion failure_by(long long workpackage, const Error& error) const;
  void record_intent(const Bundle& bundle);
  void hand_over(const Bundle& bundle, std::deque<Bundle>& next);
  void refuse(const Bundle& bundle, const std::string& reason);
  const std::string* refusal_of(const Bundle& bundle) const;
  void take_back(const Bundle& bundle, const std::string& reason);
  void halve(const Bundle& bundle, std::deque<Bundle>& next);
  /// Tasks that an array may have.
  std::size_t most_of_array();

  std::shared_ptr<const space::RenderContext> context_of(const workspace::Workpackage& workpackage);
  std::string avoided_nodes_of(const workspace::Workpackage& workpackage,
                               const space::RenderContext& context);
  std::vector<std::string> jobs_of_parents(const workspace::Workpackage& workpackage) const;
  std::string dependency_of(const Bundle& bundle);

  space::Run& run_;
  const workspace::Workspace& workspace_;
  StateStore& store_;
  Journal& journal_;
  evaluate::Evaluator& evaluator_;
  LostAttempts& lost_;
  SameNodes& same_nodes_;
  machine::JobMonitor& batch_;
  SubmissionSlots slots_;
  BudgetTracker budget_;
  std::set<std::string> awaited_steps_;  ///< On which chained steps depend.
  bool spent_ = false;
  /// Nodes that failed, by workpackage; none until a retry needs them.
  std::optional<std::map<long long, std::vector<std::string>>> failed_nodes_;
  std::string failure_;
  bool newly_refused_ = false;
  bool accepted_ = false;  ///< The batch system has accepted a job since bench began.
  std::map<std::string, std::size_t> refused_;        ///< Workpackages by message.
  std::map<std::string, std::string> refused_heads_;  ///< Messages by the head of the jobs.
  std::optional<std::string> refusal_;                ///< Message that holds for all jobs.
};

}  // namespace bench::run
