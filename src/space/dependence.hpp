#pragma once

#include <set>
#include <string>
#include <vector>

#include <bench/model/benchmark.hpp>

namespace bench::workflow {

/// The parameters that the definition of one names.
std::vector<std::string> names_behind(const model::Parameter& definition);

/// The parameters whose value a script gives, or depends on one that does, where neither they nor
/// those behind them are defined in another way than before. The script may give another value
/// today: the time, the host, a revision.
std::set<std::string> unchanged_scripts(const model::Benchmark& before,
                                        const model::Benchmark& now);

}  // namespace bench::workflow
