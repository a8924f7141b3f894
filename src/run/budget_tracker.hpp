#pragma once

#include "state_store.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/space/job_request.hpp>
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

}  // namespace bench::run
