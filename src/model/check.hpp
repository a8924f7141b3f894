#pragma once

#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

/// Checks every reference between the parts of a benchmark; `node` gives the places.
/// @throws Error for a reference to nothing and for a circular `depend`
void check(const Benchmark& benchmark, const document::Node& node, Diagnostics& diagnostics);

/// Warns about sets and analysers that nothing uses. Of a part of a file's benchmarks, those that
/// all benchmarks share may be used by the others.
void check_unused(const std::vector<Benchmark>& benchmarks, const document::Node& root,
                  bool whole_file, Diagnostics& diagnostics);

/// Warns about integers with a fraction, patterns without a text, and patterns that a later one of
/// the same name replaces.
void check_values(const Benchmark& benchmark, Diagnostics& diagnostics);

/// Warns about what JUBE accepts in silence in the parameter and pattern sets of `parent`: unknown
/// types, and names that `$` cannot refer to.
void check_definitions(const document::Node& parent, Diagnostics& diagnostics);

}  // namespace bench::model
