#pragma once

#include "budget_tracker.hpp"
#include "bundle.hpp"
#include "journal.hpp"
#include "lost_attempts.hpp"
#include "submission_slots.hpp"

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <bench/batch/queue.hpp>
#include <bench/setup/run.hpp>
#include <bench/store/state_store.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::scheduler {

/// Hands workpackages to the batch system: those that ask for the same as one array, several in one
/// job where the step packs them, the others one by one. Everything is in the workspace before the
/// batch system hears of it, so that a kill at any moment can be made good.
class Submitter {
 public:
  /// @param run is told of the partitions before the first submission
  Submitter(setup::Run& run, const workspace::Workspace& workspace, store::StateStore& store,
            Journal& journal, evaluate::Evaluator& evaluator, LostAttempts& lost,
            batch::BatchQueue& batch);

  /// @param ids ready workpackages, ascending
  /// Those that are refused stay ready, for a bench that asks otherwise.
  /// @returns how those ended that could not be prepared or had ended already; with `held_up`
  ///          those that the machine kept from being submitted: they are to be made ready
  std::vector<execute::Completion> submit(const std::vector<long long>& ids);

  /// The user does not want what the batch system has any more.
  /// @returns what the batch system has against it; empty: nothing
  std::string cancel_all();

  /// Why the last submission did not reach the batch system; empty: it did.
  const std::string& trouble() const { return trouble_; }
  void forget_trouble() { trouble_.clear(); }
  /// What the batch system said where it refused jobs, and of how many workpackages; empty: it has
  /// taken all.
  std::string refusals() const;
  /// Whether there are new ones since this was last asked.
  bool take_refused() { return std::exchange(newly_refused_, false); }
  /// Whether it was the budget of the run; only a job that ends can change that.
  bool is_spent() const { return spent_; }
  void job_has_ended() { spent_ = false; }

 private:
  std::vector<Planned> prepare_all(const std::vector<long long>& ids,
                                   std::vector<execute::Completion>& failed);
  execute::Completion failure_by(long long workpackage, const Error& error) const;
  void record_intent(const Bundle& bundle);
  void hand_over(const Bundle& bundle, std::deque<Bundle>& next);
  void refuse(const Bundle& bundle, const std::string& reason);
  const std::string* refusal_of(const Bundle& bundle) const;
  void take_back(const Bundle& bundle, const std::string& reason);
  void halve(const Bundle& bundle, std::deque<Bundle>& next);
  /// Tasks that an array may have.
  std::size_t most_of_array();

  setup::Run& run_;
  store::StateStore& store_;
  Journal& journal_;
  evaluate::Evaluator& evaluator_;
  LostAttempts& lost_;
  batch::BatchQueue& batch_;
  SubmissionSlots slots_;
  BudgetTracker budget_;
  bool spent_ = false;
  std::string trouble_;
  bool newly_refused_ = false;
  bool accepted_ = false;  ///< The batch system has taken a job since bench began.
  std::map<std::string, std::size_t> refused_;        ///< Workpackages by what it said.
  std::map<std::string, std::string> refused_heads_;  ///< What it said of equal jobs.
  std::optional<std::string> refusal_;                ///< What it says of all jobs.
};

}  // namespace bench::scheduler
