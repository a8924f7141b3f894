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
  std::span<const double> values;  ///< Values of the iterations that are done.
  int failed = 0;
  int affordable = 0;      ///< How many more the budget of the step allows.
  bool dominated = false;  ///< Another combination is better with certainty.
};

/// The decision about a combination.
struct RepetitionDecision {
  int more = 0;  ///< Iterations to add; 0: none.
  bool known = false;
  /// Why it stays uncertain if none are added; empty if dominated.
  std::string reason;
};

/// Decides whether the value of a repetition is known well enough, or how many iterations to add.
/// @param by_estimate adds as many as the interval's width suggests, at most doubling them, instead
/// of one by one: queueing a job for each would take long
RepetitionDecision decide(const model::Repetition& repetition, const Repeated& repeated,
                          bool by_estimate);

}  // namespace bench::sweep
