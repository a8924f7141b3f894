#pragma once

#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

/// A child of a step; null where there is none.
/// @throws Error with the place of a second one
const document::Node* only_one(const document::Node& step, const char* name);

/// Reads `iterations` of a step: a number, or the bounds of a repetition.
/// @throws Error with the place of the first mistake
void read_iterations(const document::Node& node, Step& step);

/// @throws Error with the place of the first mistake
Prune build_prune(const document::Node& node);

/// @throws Error with the place of the first mistake
Search build_search(const document::Node& node);

/// Checks that what steps repeat for, and the parameters that they prune by or search, exist.
/// @throws Error with the place of the step's `iterations`, `prune` or `search`
void check_decisions(const Benchmark& benchmark);

}  // namespace bench::model
