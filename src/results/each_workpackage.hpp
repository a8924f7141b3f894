#pragma once

#include <string>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/results/group.hpp>

namespace bench::tabulate {

/// The analysers that tell what is known of each workpackage by itself: those of the benchmark that
/// have a row for each, a copy without `reduce` of those that make one row of several iterations,
/// and one for the measured steps that no other analyser reads.
std::vector<model::Analyser> analysers_of_each(const model::Benchmark& benchmark);

/// Those of them that the benchmark does not have. Their names have a comma, so that nothing in a
/// benchmark can use them: `NAME, each iteration` and `energy, each workpackage`.
std::vector<model::Analyser> additional_analysers(const model::Benchmark& benchmark);

/// Leaves out what a single value says of itself: the statistics of names that were found once.
void drop_statistics_of_one_value(analyse::Findings& findings);

}  // namespace bench::tabulate
