#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/space/input.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

/// The run with the benchmark of the same name in the request's input file, which may have gained
/// values, iterations or steps. Tags are those of the run and of the request. Changes nothing that
/// is stored.
/// @throws Error if the file has no such benchmark, or is incompatible with the run
space::Run with_updated_input(const space::Run& run, const workspace::Workspace& workspace,
                              space::Request request, Diagnostics& diagnostics);

/// The effect of an updated input on its run.
struct Extension {
  std::size_t added = 0;     ///< New workpackages.
  std::size_t obsolete = 0;  ///< Workpackages that the new input lacks; they are kept.
  /// Parameters to which a script would give another value today.
  std::set<std::string> kept;
};

/// Stores the updated input and the workpackages that it adds, atomically. The caller
/// holds the writer lock.
/// @param run of `with_updated_input`
/// @param before the benchmark that the run had
/// @param notices gains messages for the user about the combinations
/// @throws Error as the first expansion of a run does
Extension extend_run(const space::Run& run, const model::Benchmark& before,
                     workspace::Workspace& workspace, Diagnostics& diagnostics,
                     std::vector<std::string>& notices);

}  // namespace bench::run
