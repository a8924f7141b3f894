#pragma once

#include <bench/job/render_context.hpp>
#include <bench/workflow/graph.hpp>

namespace bench::job {

/// Makes the directory of a workpackage anew, with the links to its parents' and its step's shared
/// directories, and the directory that its step works in, if it has one of its own.
/// @throws Error if the file system refuses
void make_directory(const RenderContext& context, const workflow::Graph& graph);

}  // namespace bench::job
