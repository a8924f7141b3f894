#pragma once

#include <string>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/group.hpp>

namespace bench::results {

/// A derived pattern that could not be evaluated although all that it needs is there.
struct DerivedFailure {
  const model::Pattern* pattern;
  std::string error;
};

/// Evaluates the derived patterns of all groups into their findings: those that need no other
/// derived one first, then those that need these, and so on; each such level is one batch over all
/// groups.
/// @returns the failures; a pattern may fail in many groups
/// @throws Error with a place if derived patterns need each other
std::vector<DerivedFailure> evaluate_derived(const std::vector<Group>& groups,
                                             evaluate::Evaluator& evaluator,
                                             std::vector<FoundValues>& findings);

}  // namespace bench::results
