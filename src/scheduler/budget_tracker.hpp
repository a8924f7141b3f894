#pragma once

#include <optional>
#include <string>

#include <bench/job/job_script.hpp>
#include <bench/workflow/graph.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::scheduler {

/// What the jobs of a run have taken, and may take yet, against its budget. Without a budget it
/// admits everything and counts nothing.
class BudgetTracker {
 public:
  BudgetTracker(const setup::Run& run, const workspace::Workspace& workspace,
                const workflow::Graph& graph, evaluate::Evaluator& evaluator);

  /// Counts anew: of ended jobs nodes times what they ran, of others, and where that is not known,
  /// nodes times their time limit.
  void count();
  /// @throws Error with `place` for a job whose end nobody knows
  void check(const job::Geometry& geometry, const Place& place) const;
  /// Whether so many jobs may go out, too.
  bool admits(const job::Geometry& geometry, std::size_t jobs);
  /// They have gone out.
  void add(const job::Geometry& geometry, std::size_t jobs);
  /// Why the last ones were not admitted.
  const std::string& refusal() const { return refusal_; }

 private:
  static double node_hours(const job::Geometry& geometry, std::size_t jobs);

  const setup::Run& run_;
  const workspace::Workspace& workspace_;
  const workflow::Graph& graph_;
  evaluate::Evaluator& evaluator_;
  std::optional<double> budget_h_;
  double taken_h_ = 0;
  std::string refusal_;
};

}  // namespace bench::scheduler
