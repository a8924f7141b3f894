#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <bench/model/benchmark.hpp>

namespace bench::sweep {

/// The iterations of one combination so far, all ended.
struct Repeated {
  int iterations = 0;
  int next = 0;  ///< Number of the next one; `active` may have dropped earlier ones.
  std::span<const double> values;  ///< What those that are done gave.
  int failed = 0;
  int affordable = 0;      ///< How many more the budget of the step allows.
  bool dominated = false;  ///< Another combination is better, whatever comes.
};

/// What follows from them.
struct RepetitionDecision {
  int more = 0;  ///< Iterations to add; 0: none.
  bool known = false;
  /// Why it stays unknown, where none are added; empty for one that is dominated.
  std::string reason;
};

/// Whether the value of a repetition is known well enough, or how many iterations come next.
/// @param by_estimate as many as the width of the interval lets expect, at most as many as there
///        were, and not one by one: a job that waits in a queue for each would take long
RepetitionDecision decide(const model::Repetition& repetition, const Repeated& repeated,
                          bool by_estimate);

}  // namespace bench::sweep
