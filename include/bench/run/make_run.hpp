#pragma once

#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/space/input.hpp>
#include <bench/space/run.hpp>
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

}  // namespace bench::run
