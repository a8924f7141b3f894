#pragma once

#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

/// The benchmarks of an input file, in file order, global sets added to each. Tags are applied
/// already. Every cross reference is checked.
///
/// Warns about what JUBE lets pass in silence: sets, analysers and patterns that nothing uses, and
/// columns that no parameter or pattern can fill.
///
/// @param whole_file false where benchmarks of the file were left out, which may use its sets
/// @throws Error with the place: missing or doubled names, a wrong word where only some are
///         allowed, an undefined set, step or analyser, a circular `depend`
std::vector<Benchmark> build(const document::Node& root, Diagnostics& diagnostics,
                             bool whole_file = true);

/// Looks for names in expressions, commands and derived patterns that nothing defines. For files,
/// not for runs that were made from one.
/// @throws Error with the place and a did-you-mean where the expression could only fail
void check_names(const Benchmark& benchmark, Diagnostics& diagnostics);

}  // namespace bench::model
