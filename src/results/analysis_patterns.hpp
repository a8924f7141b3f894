#pragma once

#include <vector>

#include <bench/model/benchmark.hpp>

namespace bench::tabulate {

using Patterns = std::vector<const model::Pattern*>;

/// The patterns of one `analyse` element.
struct AnalysisPatterns {
  std::vector<Patterns> of_files;  ///< As the files of the analysis.
  Patterns derived;
  Patterns all;
};

/// @throws Error with the place of one of two patterns that have one name and are not the same
AnalysisPatterns patterns_of(const model::Benchmark& benchmark, const model::Analyser& analyser,
                             const model::Analysis& analysis);

}  // namespace bench::tabulate
