#pragma once

#include <optional>
#include <string>

#include <bench/evaluate/evaluator.hpp>
#include <bench/setup/run.hpp>
#include <bench/workflow/graph.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::tabulate {

/// What the analysers find in the files of single workpackages, for decisions while a run goes on.
/// Nothing is stored.
class WorkpackageValues {
 public:
  /// What is passed must outlive this object.
  WorkpackageValues(const setup::Run& run, const workflow::Graph& graph,
                    evaluate::Evaluator& evaluator)
      : run_(run), graph_(graph), evaluator_(evaluator) {}

  /// The value of a pattern, a statistic of one, or a figure of the meter, in a workpackage that is
  /// done: that of the first analyser which has it. Nothing where it is absent or not a number.
  /// @throws Error for an invalid pattern
  std::optional<double> number(const workspace::Workpackage& workpackage,
                               const std::string& name) const;

 private:
  const setup::Run& run_;
  const workflow::Graph& graph_;
  evaluate::Evaluator& evaluator_;
};

}  // namespace bench::tabulate
