#pragma once

#include "graph.hpp"
#include "scope.hpp"

namespace bench::engine {

/// Makes the directory of a workpackage anew, with the links to its parents' and its step's shared
/// directories, and the directory that its step works in, if it has one of its own.
/// @throws Error if the file system refuses
void make_directory(const Scope& scope, const Graph& graph);

}  // namespace bench::engine
