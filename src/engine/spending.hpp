#pragma once

#include "graph.hpp"
#include "job_script.hpp"

#include <optional>
#include <string>

#include <bench/workspace/workspace.hpp>

namespace bench::engine {

/// What the jobs of a run have taken, and may take yet, against its budget. Without a budget it
/// admits everything and counts nothing.
class Spending {
 public:
  Spending(const Run& run, const workspace::Workspace& workspace, const Graph& graph,
           evaluate::Evaluator& evaluator);

  /// Counts anew: of ended jobs nodes times what they ran, of others, and where that is not known,
  /// nodes times their time limit.
  void count();
  /// @throws Error with `place` for a job whose end nobody knows
  void check(const Geometry& geometry, const Place& place) const;
  /// Whether so many jobs may go out, too.
  bool admits(const Geometry& geometry, std::size_t jobs);
  /// They have gone out.
  void add(const Geometry& geometry, std::size_t jobs);
  /// Why the last ones were not admitted.
  const std::string& refusal() const { return refusal_; }

 private:
  static double node_hours(const Geometry& geometry, std::size_t jobs);

  const Run& run_;
  const workspace::Workspace& workspace_;
  const Graph& graph_;
  evaluate::Evaluator& evaluator_;
  std::optional<double> budget_h_;
  double taken_h_ = 0;
  std::string refusal_;
};

}  // namespace bench::engine
