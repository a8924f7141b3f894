#pragma once

#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

/// Warns about what JUBE accepts in silence in the parameter and pattern sets of `parent`: unknown
/// types, and names that `$` cannot refer to.
void check_definitions(const document::Node& parent, Diagnostics& diagnostics);

/// Checks every reference between the parts of a benchmark; `node` gives the places.
/// @throws Error for a reference to nothing and for a circular `depend`
void check(const Benchmark& benchmark, const document::Node& node, Diagnostics& diagnostics);

/// Checks that what steps repeat for, and the parameters that they prune by or search, exist.
/// @throws Error with the place of the step's `iterations`, `prune` or `search`
void check_decisions(const Benchmark& benchmark);

/// Warns about columns that nothing can fill.
void check_columns(const Benchmark& benchmark, Diagnostics& diagnostics);

/// Checks the calculations and units of all columns.
/// @throws Error with the place
void check_calculations(const Benchmark& benchmark);

/// Warns about sets and analysers that nothing uses. Of a part of a file's benchmarks, those that
/// all benchmarks share may be used by the others.
void check_unused(const std::vector<Benchmark>& benchmarks, const document::Node& root,
                  bool whole_file, Diagnostics& diagnostics);

}  // namespace bench::model
