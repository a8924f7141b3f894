#pragma once

#include <map>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/group.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::results {

/// What the analysers found, by analyser.
using Analyses = std::map<std::string, std::vector<workspace::Finding>>;

/// Runs every analyser of the benchmark over the run directory. Derived patterns execute script
/// code of the benchmark. Warns about matches that are not numbers, derived patterns that fail, and
/// files that are not UTF-8.
/// @throws Error with the place of an invalid pattern, or one that has the name of a
///         parameter, or whose name another used set gives to another text
Analyses analyse_run(const space::Run& run, const workspace::Workspace& workspace,
                     Diagnostics& diagnostics);

/// The same, and keeps what they find: all of it, or nothing where an analyser fails. The caller
/// holds the writer lock.
void analyse_and_store(const space::Run& run, workspace::Workspace& workspace,
                       Diagnostics& diagnostics);

/// What an earlier analysis found, as far as the results show it.
Analyses stored_analyses(const space::Run& run, const workspace::Workspace& workspace);

/// Whether every analyser has seen all workpackages that have ended.
bool is_analysed(const space::Run& run, const workspace::Workspace& workspace);

/// The name of the analyser that tells of each iteration, where this one makes one row of several.
std::string name_of_each(const std::string& analyser);

/// What every analyser of the run found at single workpackages, as an earlier analysis kept it:
/// where iterations make one row, at each of them.
Analyses stored_analyses_of_each(const space::Run& run, const workspace::Workspace& workspace);

/// Whether that tells of all workpackages that have ended. What JUBE has analysed does not where
/// iterations make one row.
bool is_each_analysed(const space::Run& run, const workspace::Workspace& workspace);

/// The analysers that tell what is known of each workpackage by itself: those of the benchmark that
/// have a row for each, a copy without `reduce` of those that make one row of several iterations,
/// and one for the measured steps that no other analyser reads.
std::vector<model::Analyser> analysers_of_each(const model::Benchmark& benchmark);

/// Those of them that the benchmark does not have. Their names have a comma, so that nothing in a
/// benchmark can use them: `NAME, each iteration` and `energy, each workpackage`.
std::vector<model::Analyser> additional_analysers(const model::Benchmark& benchmark);

/// Leaves out what a single value says of itself: the statistics of names that were found once.
void drop_statistics_of_one_value(FoundValues& findings);

}  // namespace bench::results
