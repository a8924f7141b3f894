#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/space/input.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::run {

/// A run that has just been made. The workspace is closed before the lock is given back.
struct NewRun {
  workspace::WriterLock lock;
  workspace::Workspace workspace;
};

/// Makes the directory and the workspace of a planned run, with its first workpackages. What cannot
/// be expanded leaves nothing behind.
/// @param diagnostics told of computed values that do not fit their type
/// @param notices gains what the user should know of the expansion
NewRun make_run(space::Run& run, const space::Request& request, Diagnostics& diagnostics,
                std::vector<std::string>& notices);

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

/// The members of a JSON object as parameters: `{"batch_size": 64, "precision": "bf16"}`. A number
/// keeps its JSON text.
/// @throws Error if the text is not such an object, or a value is neither text, number nor boolean
workspace::Parameters point_from_json(const std::string& text);

/// The workpackages at a point.
struct AddedPoint {
  std::vector<long long> workpackages;  ///< Ascending.
  bool is_new = false;                  ///< They did not exist before.
};

/// Adds a point to a step of a run, once for each combination of the step's other parameters, with
/// all of its iterations. Nothing starts. The caller holds the writer lock.
/// @param step if empty, the first step that has all these parameters
/// @throws Error if no step has them, if the step has no workpackage yet, if `where` or `active`
/// drops the point, and as the expansion of a run does
AddedPoint add_point(const space::Run& run, workspace::Workspace& workspace,
                     const workspace::Parameters& point, const std::string& step,
                     Diagnostics& diagnostics);

}  // namespace bench::run
