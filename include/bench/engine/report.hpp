#pragma once

#include <map>
#include <string>
#include <vector>

#include <bench/engine/run.hpp>
#include <bench/result/table.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::engine {

/// What the analysers found, by analyser.
using Analyses = std::map<std::string, std::vector<workspace::Finding>>;

/// Runs every analyser of the benchmark over the run directory. Derived patterns execute script
/// code of the benchmark. Warns about matches that are no numbers and derived patterns that fail.
Analyses analyse_run(const Run& run, const workspace::Workspace& workspace,
                     Diagnostics& diagnostics);

/// Keeps what the analysers found. The caller holds the writer lock.
void store(const Analyses& analyses, workspace::Workspace& workspace);

/// What an earlier analysis found.
Analyses stored_analyses(const Run& run, const workspace::Workspace& workspace);

/// Whether every analyser has seen all workpackages that have ended.
bool is_analysed(const Run& run, const workspace::Workspace& workspace);

/// A table of the benchmark, filled.
struct FilledTable {
  result::Table table;
  std::string style;                       ///< As the benchmark asks for.
  std::filesystem::path result_directory;  ///< Where its file belongs.
};

/// The tables of the benchmark, in order.
/// @throws Error with the place of a `filter` or `format` that does not fit
std::vector<FilledTable> report(const Run& run, const workspace::Workspace& workspace,
                                const Analyses& analyses);

}  // namespace bench::engine
