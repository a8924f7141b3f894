#pragma once

#include <string>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/space/run.hpp>

namespace bench::run {

/// Why jobs of a step cannot be submitted while its parents run, with the place in the input if
/// there is one; empty if they can. Conservative: a text that may read files of the parents counts
/// as if it did.
/// @param step depends on a batch step
std::string chain_blocker(const space::Run& run, const model::Step& step);

/// Determines which steps of a run can be chained, unless it is chained already, and adds a notice
/// for each other step with parents in the batch system. @returns whether any step can be chained
bool chain_steps(space::Run& run, std::vector<std::string>& notices);

}  // namespace bench::run
