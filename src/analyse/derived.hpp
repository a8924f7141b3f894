#pragma once

#include <vector>

#include <bench/analyse/analyse.hpp>

namespace bench::analyse {

/// Evaluates the derived patterns of all groups into their findings: those that need no other
/// derived one first, then those that need these, and so on; each such level is one batch over all
/// groups.
/// @throws Error with a place if derived patterns need each other
void evaluate_derived(const std::vector<Group>& groups, evaluate::Evaluator& evaluator,
                      std::vector<Findings>& findings, Diagnostics* diagnostics);

}  // namespace bench::analyse
