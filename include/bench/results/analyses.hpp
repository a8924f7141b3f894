#pragma once

#include <map>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::tabulate {

/// What the analysers found, by analyser.
using Analyses = std::map<std::string, std::vector<workspace::Finding>>;

/// Runs every analyser of the benchmark over the run directory. Derived patterns execute script
/// code of the benchmark. Warns about matches that are not numbers, derived patterns that fail, and
/// files that are not UTF-8.
/// @throws Error with the place of an invalid pattern, or one that has the name of a
///         parameter, or whose name another used set gives to another text
Analyses analyse_run(const setup::Run& run, const workspace::Workspace& workspace,
                     Diagnostics& diagnostics);

/// The same, and keeps what they find: all of it, or nothing where an analyser fails. The caller
/// holds the writer lock.
void analyse_and_store(const setup::Run& run, workspace::Workspace& workspace,
                       Diagnostics& diagnostics);

/// What an earlier analysis found, as far as the results show it.
Analyses stored_analyses(const setup::Run& run, const workspace::Workspace& workspace);

/// Whether every analyser has seen all workpackages that have ended.
bool is_analysed(const setup::Run& run, const workspace::Workspace& workspace);

/// The name of the analyser that tells of each iteration, where this one makes one row of several.
std::string name_of_each(const std::string& analyser);

/// What every analyser of the run found at single workpackages, as an earlier analysis kept it:
/// where iterations make one row, at each of them.
Analyses stored_analyses_of_each(const setup::Run& run, const workspace::Workspace& workspace);

/// Whether that tells of all workpackages that have ended. What JUBE has analysed does not where
/// iterations make one row.
bool is_each_analysed(const setup::Run& run, const workspace::Workspace& workspace);

}  // namespace bench::tabulate
