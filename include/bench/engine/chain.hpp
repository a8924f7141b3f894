#pragma once

#include <string>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/setup/run.hpp>

namespace bench::engine {

/// Why jobs of a step cannot be submitted while its parents run: what prevents it, with its place
/// in the input where it has one. Empty where they can. Text is judged, not executed: what may read
/// files that the parents write counts as if it did.
/// @param step depends on a batch step
std::string chain_obstacle(const setup::Run& run, const model::Step& step);

/// Finds the steps of a run that can be chained, unless it has been chained before, and notes why
/// others with parents in the batch system cannot.
/// @returns whether there are any
bool chain_steps(setup::Run& run, std::vector<std::string>& notices);

}  // namespace bench::engine
